// The floor of HTTP: nginx with one worker that answers `return 200` with a body of about the size
// of one resource.

#pragma once

#include <memory>
#include <string>

#include "tests/support/private_directory.h"
#include "tests/support/process.h"

namespace bench {

class Nginx {
 public:
  // Starts it on a free loopback port. Ends the program when it cannot.
  explicit Nginx(const std::string& body);

  const std::string& url() const { return url_; }

 private:
  std::unique_ptr<support::PrivateDirectory> directory_;
  std::unique_ptr<support::Process> process_;
  std::string url_;
};

}  // namespace bench
