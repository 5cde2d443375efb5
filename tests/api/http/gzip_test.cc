#include "api/http/gzip.h"

#include <algorithm>

#include <gtest/gtest.h>
#include <zlib.h>

namespace api {
namespace {

Request Asking(const std::string& accept_encoding) {
  RequestParts parts;
  if (!accept_encoding.empty()) {
    parts.headers.push_back({"Accept-Encoding", accept_encoding});
  }
  return Request(std::move(parts));
}

std::string HeaderOf(const Response& response, const std::string& name) {
  const auto field = std::ranges::find(response.headers, name, &HeaderField::name);
  return field == response.headers.end() ? "" : field->value;
}

std::string Unpack(const std::string& packed, std::size_t size) {
  std::string text(size, '\0');
  z_stream stream{};
  EXPECT_EQ(inflateInit2(&stream, MAX_WBITS + 16), Z_OK);
  stream.next_in = reinterpret_cast<Bytef*>(const_cast<char*>(packed.data()));
  stream.avail_in = static_cast<uInt>(packed.size());
  stream.next_out = reinterpret_cast<Bytef*>(text.data());
  stream.avail_out = static_cast<uInt>(text.size());
  EXPECT_EQ(inflate(&stream, Z_FINISH), Z_STREAM_END);
  inflateEnd(&stream);
  return text;
}

TEST(GzipTest, IsSentToWhoeverTakesIt) {
  for (const char* taken :
       {"gzip", "GZIP", "br, gzip", "gzip;q=0.5", "*", "br;q=0, *;q=0.1", "deflate , gzip ; q=1"}) {
    EXPECT_TRUE(AcceptsGzip(taken)) << taken;
  }
  for (const char* refused :
       {"", "identity", "br", "gzip;q=0", "gzip;q=0.000", "*;q=0", "gzip;q=0, *", "gzipped"}) {
    EXPECT_FALSE(AcceptsGzip(refused)) << refused;
  }
}

TEST(GzipTest, ABodyComesBackAsItWas) {
  const std::string body(50'000, 'x');
  Response response = JsonResponse(200, body);
  CompressFor(Asking("gzip"), response);
  EXPECT_EQ(HeaderOf(response, "Content-Encoding"), "gzip");
  EXPECT_EQ(HeaderOf(response, "Vary"), "Accept-Encoding");
  EXPECT_LT(response.body.size(), body.size() / 10);
  EXPECT_EQ(Unpack(response.body, body.size()), body);
}

TEST(GzipTest, OthersGetThePlainBodyAndAWordForCaches) {
  const std::string body(50'000, 'x');
  Response response = JsonResponse(200, body);
  CompressFor(Asking(""), response);
  EXPECT_EQ(response.body, body);
  EXPECT_EQ(HeaderOf(response, "Content-Encoding"), "");
  EXPECT_EQ(HeaderOf(response, "Vary"), "Accept-Encoding");
}

TEST(GzipTest, SmallAndVeryLargeBodiesStayAsTheyAre) {
  for (const std::size_t size : {std::size_t{100}, std::size_t{2} << 20}) {
    Response response = JsonResponse(200, std::string(size, 'x'));
    CompressFor(Asking("gzip"), response);
    EXPECT_EQ(response.body.size(), size);
    EXPECT_TRUE(response.headers.empty());
  }
}

}  // namespace
}  // namespace api
