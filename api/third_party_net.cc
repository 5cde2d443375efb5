// Asio's and Beast's definitions, compiled once for the transport.

#include <boost/asio/impl/src.hpp>
#include <boost/beast/src.hpp>
