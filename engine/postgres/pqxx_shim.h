// The only file that knows how libpqxx 6.4, 7.x before 7.10 and later ones differ.
//
// We connect with libpq, because its handle can be waited for with a deadline, and then give the
// handle to libpqxx: both work on the same connection, one after the other.

#pragma once

#include <memory>
#include <string>
#include <utility>

#include <libpq-fe.h>
#include <pqxx/pqxx>

namespace engine::postgres {

#if PQXX_VERSION_MAJOR < 7

// A connection policy of 6.x that starts from a handle instead of an address.
class AdoptPolicy : public pqxx::connectionpolicy {
 public:
  explicit AdoptPolicy(const std::string& options) : connectionpolicy(options) {}
  handle do_startconnect(handle current) override {
    return current != nullptr ? current : std::exchange(adopting, nullptr);
  }
  static inline thread_local PGconn* adopting = nullptr;
};
using PqxxConnection = pqxx::basic_connection_base<AdoptPolicy>;

// Takes ownership of `handle`. REQUIRES: it is connected.
inline std::unique_ptr<PqxxConnection> Adopt(PGconn* handle) {
  AdoptPolicy::adopting = handle;
  auto connection = std::make_unique<PqxxConnection>(std::string());
#pragma GCC diagnostic push
#pragma GCC diagnostic ignored "-Wdeprecated-declarations"
  connection->activate();
  // Else 6.x would connect again behind our back, to a session that has lost everything.
  connection->inhibit_reactivation(true);
#pragma GCC diagnostic pop
  return connection;
}

#else

using PqxxConnection = pqxx::connection;

inline std::unique_ptr<PqxxConnection> Adopt(PGconn* handle) {
  return std::make_unique<PqxxConnection>(pqxx::connection::seize_raw_connection(handle));
}

#endif

// Runs `sql` with parameters.
template <class... Args>
pqxx::result Exec(pqxx::transaction_base& transaction, const std::string& sql, Args&&... args) {
#if PQXX_VERSION_MAJOR > 7 || (PQXX_VERSION_MAJOR == 7 && PQXX_VERSION_MINOR >= 10)
  return transaction.exec(sql, pqxx::params{std::forward<Args>(args)...});
#else
  return transaction.exec_params(sql, std::forward<Args>(args)...);
#endif
}

}  // namespace engine::postgres
