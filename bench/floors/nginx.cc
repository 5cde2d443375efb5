#include "bench/floors/nginx.h"

#include <cstdio>
#include <cstdlib>

#include <absl/strings/str_format.h>

#include "tests/support/http_client.h"
#include "tests/support/poll.h"

namespace bench {
namespace {

constexpr int kPort = 18'321;

}  // namespace

Nginx::Nginx(const std::string& body) : url_(absl::StrFormat("http://127.0.0.1:%d/", kPort)) {
  auto directory = support::PrivateDirectory::Make();
  if (!directory.ok()) {
    std::exit(1);
  }
  directory_ = *std::move(directory);
  const std::string& dir = directory_->path();
  // One process: a worker would outlive its master, which is killed in the end.
  const auto config = directory_->Write(
      "nginx.conf",
      absl::StrFormat(
          "daemon off; master_process off; pid %s/pid; error_log %s/error.log;\n"
          "events { worker_connections 1024; }\n"
          "http { access_log off; keepalive_requests 100000000;\n"
          "  client_body_temp_path %s/b; proxy_temp_path %s/p; fastcgi_temp_path %s/f;\n"
          "  uwsgi_temp_path %s/u; scgi_temp_path %s/s;\n"
          "  server { listen 127.0.0.1:%d; default_type application/json;\n"
          "    location / { return 200 '%s'; } } }\n",
          dir, dir, dir, dir, dir, dir, dir, kPort, body));
  auto process = support::Process::Start({.argv = {"nginx", "-c", *config, "-p", dir}});
  if (!process.ok()) {
    std::fprintf(stderr, "nginx: %s\n", process.status().ToString().c_str());
    std::exit(1);
  }
  process_ = *std::move(process);
  const auto answers = [] {
    support::HttpClient client("127.0.0.1", kPort);
    return client.Get("/").ok();
  };
  if (!support::WaitFor(answers, engine::Deadline::After(std::chrono::seconds(10)))) {
    std::fprintf(stderr, "nginx does not answer: %s\n", process_->Stderr().c_str());
    std::exit(1);
  }
}

}  // namespace bench
