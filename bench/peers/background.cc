#include "bench/peers/background.h"

#include <chrono>
#include <cstdio>
#include <cstdlib>

#include "bench/support/or_die.h"

namespace bench {

Background::Background(const std::string& url, const BackgroundOptions& options, const Round& round)
    : began_(Now()) {
  for (int client = 0; client < options.clients; ++client) {
    const engine::Duration first = began_ + options.apart * client / options.clients;
    threads_.emplace_back("background", [this, url, first, apart = options.apart, round] {
      Go(url, first, apart, round);
    });
  }
}

Background::~Background() {
  Stop();
}

LoopSummary Background::Stop() {
  {
    engine::MutexLock lock(mutex_);
    stopping_ = true;
    stopped_.SignalAll();
  }
  const engine::Duration ended = Now();
  for (engine::Thread& thread : threads_) {
    thread.Join();
  }
  engine::MutexLock lock(mutex_);
  return Summarize(ended - began_, micros_);
}

void Background::Go(const std::string& url, engine::Duration first, engine::Duration apart,
                    const Round& round) {
  support::HttpClient client(url);
  const Ask ask = [this, &client](const support::HttpRequest& request) {
    const engine::Duration began = Now();
    const support::HttpResponse response = OrDie(client.Call(request));
    const double micros = std::chrono::duration<double, std::micro>(Now() - began).count();
    if (response.status / 100 != 2) {
      std::fprintf(stderr, "%s %s: %d %s\n", request.method.c_str(), request.path.c_str(),
                   response.status, response.body.c_str());
      std::exit(1);
    }
    engine::MutexLock lock(mutex_);
    micros_.push_back(micros);
    return response;
  };
  for (engine::Duration due = first; WaitUntil(due); due += apart) {
    round(ask);
  }
}

bool Background::WaitUntil(engine::Duration when) {
  engine::MutexLock lock(mutex_);
  for (engine::Duration now = Now(); !stopping_ && now < when; now = Now()) {
    stopped_.WaitUntil(mutex_, engine::Deadline::After(when - now));
  }
  return !stopping_;
}

}  // namespace bench
