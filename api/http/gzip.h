// Gzip of answers for clients that ask for it (RFC 9110, section 12.5.3).
//
// Thread-safe; never blocks, but costs processor time: about 10 ms a MiB at the level used.

#pragma once

#include "api/http/request.h"
#include "api/http/response.h"

namespace api {

// Whether `accept_encoding`, the value of that header, allows gzip: it names `gzip`, or else `*`,
// with a weight above zero.
bool AcceptsGzip(std::string_view accept_encoding);

// Compresses the body of `response` if the client of `request` takes that, and adds
// Content-Encoding. Every body that could be compressed gets `Vary: Accept-Encoding`. Left as they
// are: bodies under 1 KiB, which a packet holds anyway, and over 1 MiB, which would hold up the I/O
// thread.
void CompressFor(const Request& request, Response& response);

}  // namespace api
