#include "api/server/async_log.h"

#include <cstddef>
#include <string_view>

#include <spdlog/async.h>
#include <spdlog/sinks/ansicolor_sink.h>
#include <spdlog/sinks/stdout_sinks.h>
#include <spdlog/spdlog.h>

#include "engine/base/logging.h"

namespace api {
namespace {

constexpr std::size_t kQueuedLines = 8192;

std::shared_ptr<spdlog::sinks::sink> SinkOf(LogOutput output) {
  if (output == LogOutput::kStandardOutput) {
    return std::make_shared<spdlog::sinks::stdout_sink_mt>();
  }
  return std::make_shared<spdlog::sinks::stderr_sink_mt>();
}

}  // namespace

struct AsyncLog::Impl {
  explicit Impl(LogOutput output)
      : pool(std::make_shared<spdlog::details::thread_pool>(kQueuedLines, 1)),
        logger(std::make_shared<spdlog::async_logger>(
            "halo", SinkOf(output), pool, spdlog::async_overflow_policy::overrun_oldest)) {
    logger->set_pattern("%v");
    logger->set_level(spdlog::level::trace);  // engine::Log has decided already.
  }
  // The thread ends before the logger, which is otherwise destroyed by whichever of the two lets
  // go of it last.
  ~Impl() { pool.reset(); }

  std::shared_ptr<spdlog::details::thread_pool> pool;
  std::shared_ptr<spdlog::async_logger> logger;
};

AsyncLog::AsyncLog(LogOutput output) : impl_(std::make_unique<Impl>(output)) {
  engine::SetLogSink([logger = impl_->logger](engine::Severity, std::string_view line) {
    logger->log(spdlog::level::info, spdlog::string_view_t(line.data(), line.size()));
  });
}

AsyncLog::~AsyncLog() {
  engine::SetLogSink({});
  impl_->logger->flush();
}

std::uint64_t AsyncLog::dropped() const {
  return impl_->pool->overrun_counter();
}

}  // namespace api
