// A server whose certificate is replaced while it serves.

#include <memory>
#include <string>

#include <gmock/gmock.h>
#include <openssl/err.h>
#include <openssl/pem.h>
#include <openssl/ssl.h>

#include "api/server/server.h"
#include "tests/api/dispatch/hooked_engine.h"
#include "tests/support/certificate.h"
#include "tests/support/logs.h"
#include "tests/support/poll.h"
#include "tests/support/private_directory.h"
#include "tests/support/row_builder.h"
#include "tests/support/status_matchers.h"

namespace api {
namespace {

using dispatch_test::HookedEngine;
using testing::Contains;
using testing::HasSubstr;

// What a new connection is shown, as PEM; empty when there is none.
std::string ShownBy(const std::string& address) {
  const std::unique_ptr<SSL_CTX, decltype(&SSL_CTX_free)> context(SSL_CTX_new(TLS_client_method()),
                                                                  SSL_CTX_free);
  const std::unique_ptr<BIO, decltype(&BIO_free_all)> connection(BIO_new_ssl_connect(context.get()),
                                                                 BIO_free_all);
  BIO_set_conn_hostname(connection.get(), address.c_str());
  std::string pem;
  if (BIO_do_connect(connection.get()) == 1 && BIO_do_handshake(connection.get()) == 1) {
    SSL* ssl = nullptr;
    BIO_get_ssl(connection.get(), &ssl);
    const std::unique_ptr<X509, decltype(&X509_free)> shown(SSL_get1_peer_certificate(ssl),
                                                            X509_free);
    const std::unique_ptr<BIO, decltype(&BIO_free_all)> text(BIO_new(BIO_s_mem()), BIO_free_all);
    PEM_write_bio_X509(text.get(), shown.get());
    char* data = nullptr;
    const auto size = BIO_get_mem_data(text.get(), &data);
    pem.assign(data, static_cast<std::size_t>(size));
  }
  ERR_clear_error();
  return pem;
}

TEST(CertificatesTest, AReplacedOneIsServedWithoutARestart) {
  ASSERT_OK_AND_ASSIGN(const auto directory, support::PrivateDirectory::Make());
  ASSERT_OK_AND_ASSIGN(const support::Certificate first, support::MakeCertificate());
  TlsFiles files;
  ASSERT_OK_AND_ASSIGN(files.cert_file, directory->Write("cert.pem", first.certificate));
  ASSERT_OK_AND_ASSIGN(files.key_file, directory->Write("key.pem", first.key));
  ServerOptions options;
  options.listen = "127.0.0.1:0";
  options.drain_grace = std::chrono::milliseconds(1);
  options.tls_check_interval = std::chrono::milliseconds(5);
  ASSERT_OK_AND_ASSIGN(options.tls, TlsContext::Load(files));
  HookedEngine engine;
  ASSERT_OK_AND_ASSIGN(const auto server, Server::Start(engine, std::move(options)));
  EXPECT_EQ(ShownBy(server->address()), first.certificate);
  ASSERT_OK_AND_ASSIGN(const support::Certificate next, support::MakeCertificate());
  ASSERT_OK(directory->Write("cert.pem", next.certificate));
  ASSERT_TRUE(support::WaitFor(
      [] {
        return testing::Value(support::LogLines(),
                              Contains(HasSubstr("the certificate cannot be replaced yet")));
      },
      support::Soon()));
  EXPECT_EQ(ShownBy(server->address()), first.certificate) << "its key is still the old one";
  ASSERT_OK(directory->Write("key.pem", next.key));
  EXPECT_TRUE(support::WaitFor([&] { return ShownBy(server->address()) == next.certificate; },
                               support::Soon()));
  EXPECT_THAT(support::LogLines(), Contains(HasSubstr("the certificate was replaced")));
}

}  // namespace
}  // namespace api
