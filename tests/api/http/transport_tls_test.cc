#include <fstream>
#include <iterator>

#include <openssl/err.h>
#include <openssl/ssl.h>
#include <sys/socket.h>

#include "api/http/tls.h"
#include "tests/api/http/transport_fixture.h"
#include "tests/support/certificate.h"
#include "tests/support/private_directory.h"

namespace api {
namespace {

using support::StatusIs;
using testing::HasSubstr;
using testing::StartsWith;

// A client that trusts one certificate only. Calls block for 10 s at most.
class TlsClient {
 public:
  TlsClient(const std::string& address, const std::string& cert_file,
            int max_version = TLS1_3_VERSION)
      : context_(SSL_CTX_new(TLS_client_method())) {
    SSL_CTX_set_min_proto_version(context_, TLS1_VERSION);
    SSL_CTX_set_max_proto_version(context_, max_version);
    SSL_CTX_load_verify_locations(context_, cert_file.c_str(), nullptr);
    SSL_CTX_set_verify(context_, SSL_VERIFY_PEER, nullptr);
    bio_ = BIO_new_ssl_connect(context_);
    SSL* ssl = nullptr;
    BIO_get_ssl(bio_, &ssl);
    SSL_set_mode(ssl, SSL_MODE_AUTO_RETRY);
    BIO_set_conn_hostname(bio_, address.c_str());
  }
  ~TlsClient() {
    BIO_free_all(bio_);
    SSL_CTX_free(context_);
    ERR_clear_error();
  }
  TlsClient(const TlsClient&) = delete;
  TlsClient& operator=(const TlsClient&) = delete;

  bool Connect() {
    if (BIO_do_connect(bio_) != 1) {
      return false;
    }
    const timeval patience{.tv_sec = 10, .tv_usec = 0};
    const int fd = static_cast<int>(BIO_get_fd(bio_, nullptr));
    setsockopt(fd, SOL_SOCKET, SO_RCVTIMEO, &patience, sizeof(patience));
    return BIO_do_handshake(bio_) == 1;
  }
  bool Send(const std::string& text) {
    return BIO_write(bio_, text.data(), static_cast<int>(text.size())) ==
           static_cast<int>(text.size());
  }
  // Until there is `text` and `more` bytes behind it, or the end.
  std::string ReadUntil(const std::string& text, std::size_t more = 0) {
    for (;;) {
      const std::size_t at = received_.find(text);
      if (at != std::string::npos && received_.size() >= at + text.size() + more) {
        return std::exchange(received_, {});
      }
      char buffer[16384];
      const int got = BIO_read(bio_, buffer, sizeof(buffer));
      if (got <= 0) {
        return std::exchange(received_, {});
      }
      received_.append(buffer, static_cast<std::size_t>(got));
    }
  }
  // Whether the server ended it as it should, so that nothing can have been cut off.
  bool EndedInOrder() {
    SSL* ssl = nullptr;
    BIO_get_ssl(bio_, &ssl);
    return (SSL_get_shutdown(ssl) & SSL_RECEIVED_SHUTDOWN) != 0;
  }

 private:
  SSL_CTX* context_;
  BIO* bio_ = nullptr;
  std::string received_;
};

std::string Contents(const std::string& file) {
  std::ifstream in(file, std::ios::binary);
  return {std::istreambuf_iterator<char>(in), std::istreambuf_iterator<char>()};
}

class TransportTlsTest : public testing::Test {
 protected:
  void SetUp() override {
    ASSERT_OK_AND_ASSIGN(directory_, support::PrivateDirectory::Make());
    ASSERT_OK_AND_ASSIGN(const support::Certificate certificate, support::MakeCertificate());
    ASSERT_OK_AND_ASSIGN(files_.cert_file, directory_->Write("cert.pem", certificate.certificate));
    ASSERT_OK_AND_ASSIGN(files_.key_file, directory_->Write("key.pem", certificate.key));
    router_.Handle(Method::kGet, "/hello", [](const RequestPtr&, Responder responder) {
      responder.Answer(TextResponse(200, "secure"));
    });
    router_.Handle(Method::kGet, "/large", [](const RequestPtr&, Responder responder) {
      responder.Answer(TextResponse(200, std::string(kLarge, 'x')));
    });
    router_.Handle(Method::kPost, "/length", [](const RequestPtr& request, Responder responder) {
      responder.Answer(TextResponse(200, "got " + std::to_string(request->body().size())));
    });
    TransportOptions options;
    options.head_timeout = std::chrono::milliseconds(200);
    transport_ = std::make_unique<Transport>(options);
    ASSERT_OK_AND_ASSIGN(tls_, TlsContext::Load(files_));
    ASSERT_OK_AND_ASSIGN(address_, transport_->Listen("127.0.0.1:0", router_, tls_));
    transport_->Start();
  }
  static std::string Get(const std::string& path, const std::string& more = "") {
    return "GET " + path + " HTTP/1.1\r\nHost: h\r\n" + more + "\r\n";
  }

  static constexpr std::size_t kLarge = std::size_t{4} << 20;
  Router router_;
  std::unique_ptr<support::PrivateDirectory> directory_;
  TlsFiles files_;
  std::shared_ptr<TlsContext> tls_;
  std::unique_ptr<Transport> transport_;
  std::string address_;
};

TEST_F(TransportTlsTest, RequestsAreAnsweredOneAfterTheOther) {
  TlsClient client(address_, files_.cert_file);
  ASSERT_TRUE(client.Connect());
  for (int i = 0; i < 3; ++i) {
    ASSERT_TRUE(client.Send(Get("/hello")));
    EXPECT_THAT(client.ReadUntil("secure"), StartsWith("HTTP/1.1 200 OK\r\n"));
  }
  ASSERT_TRUE(client.Send(Get("/hello") + Get("/nowhere") + Get("/hello")));
  EXPECT_THAT(client.ReadUntil("not found"), HasSubstr("secure"));
}

TEST_F(TransportTlsTest, LargeBodiesGoBothWays) {
  TlsClient client(address_, files_.cert_file);
  ASSERT_TRUE(client.Connect());
  ASSERT_TRUE(client.Send(Get("/large")));
  const std::string answer = client.ReadUntil("\r\n\r\n", kLarge);
  EXPECT_EQ(answer.size() - answer.find("\r\n\r\n") - 4, kLarge);
  ASSERT_TRUE(client.Send("POST /length HTTP/1.1\r\nHost: h\r\nContent-Length: " +
                          std::to_string(kLarge) + "\r\n\r\n" + std::string(kLarge, 'y')));
  EXPECT_THAT(client.ReadUntil("got "), HasSubstr("got " + std::to_string(kLarge)));
}

TEST_F(TransportTlsTest, TheEndIsAnnounced) {
  TlsClient client(address_, files_.cert_file);
  ASSERT_TRUE(client.Connect());
  ASSERT_TRUE(client.Send(Get("/hello", "Connection: close\r\n")));
  EXPECT_THAT(client.ReadUntil("there is no such text"), HasSubstr("secure"));
  EXPECT_TRUE(client.EndedInOrder());
}

TEST_F(TransportTlsTest, WhatIsNoTlsIsCutOff) {
  RawClient plain(address_);
  ASSERT_TRUE(plain.Send(Get("/hello")));
  EXPECT_TRUE(plain.IsClosedByPeer());
  RawClient silent(address_);
  EXPECT_TRUE(silent.IsClosedByPeer()) << "a handshake has as long as a head";
  EXPECT_EQ(transport_->stats().requests, 0u);
}

TEST_F(TransportTlsTest, OldVersionsAreRefused) {
  EXPECT_FALSE(TlsClient(address_, files_.cert_file, TLS1_1_VERSION).Connect());
  TlsClient client(address_, files_.cert_file, TLS1_2_VERSION);
  ASSERT_TRUE(client.Connect());
  ASSERT_TRUE(client.Send(Get("/hello")));
  EXPECT_THAT(client.ReadUntil("secure"), StartsWith("HTTP/1.1 200"));
}

TEST_F(TransportTlsTest, ACertificateIsReplacedUnderOpenConnections) {
  ASSERT_OK_AND_ASSIGN(const std::string old_file,
                       directory_->Write("old.pem", Contents(files_.cert_file)));
  TlsClient before(address_, old_file);
  ASSERT_TRUE(before.Connect());
  EXPECT_FALSE(tls_->Refresh().value());
  ASSERT_OK_AND_ASSIGN(const support::Certificate fresh, support::MakeCertificate());
  // One file after the other: in between they do not fit, and nothing changes.
  ASSERT_OK(directory_->Write("cert.pem", fresh.certificate));
  EXPECT_THAT(tls_->Refresh(), StatusIs(absl::StatusCode::kFailedPrecondition));
  EXPECT_TRUE(TlsClient(address_, old_file).Connect());
  ASSERT_OK(directory_->Write("key.pem", fresh.key));
  EXPECT_TRUE(tls_->Refresh().value());
  EXPECT_FALSE(tls_->Refresh().value());
  EXPECT_FALSE(TlsClient(address_, old_file).Connect());
  EXPECT_TRUE(TlsClient(address_, files_.cert_file).Connect());
  ASSERT_TRUE(before.Send(Get("/hello")));
  EXPECT_THAT(before.ReadUntil("secure"), StartsWith("HTTP/1.1 200"));
}

TEST_F(TransportTlsTest, FilesThatDoNotFitAreNamed) {
  ASSERT_OK_AND_ASSIGN(const support::Certificate other, support::MakeCertificate());
  ASSERT_OK_AND_ASSIGN(const std::string other_key, directory_->Write("other.pem", other.key));
  EXPECT_THAT(TlsContext::Load({files_.cert_file, other_key}),
              StatusIs(absl::StatusCode::kFailedPrecondition, HasSubstr("other.pem: ")));
  EXPECT_THAT(TlsContext::Load({"/nowhere", files_.key_file}),
              StatusIs(absl::StatusCode::kFailedPrecondition, HasSubstr("/nowhere: ")));
}

}  // namespace
}  // namespace api
