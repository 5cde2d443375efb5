// Floors on Postgres: the least that a correct program without our design has to do.
//
// Each client has a connection and a thread of its own. End the program on any error.

#pragma once

#include <string>

#include "bench/support/loop.h"

namespace bench {

// One transaction a record: begin, advisory lock, insert after the last position, commit, sent in
// one round trip. Makes its table when it is not there.
void OneTransactionARecord(const std::string& url, int clients, Laps& laps);

// The tail query of one stream, prepared, with nothing new.
void DirectTail(const std::string& url, int clients, Laps& laps);

// `psql` copies all rows of the journal in binary to nowhere, stream by stream in order.
void CopyToNowhere(const std::string& url);

}  // namespace bench
