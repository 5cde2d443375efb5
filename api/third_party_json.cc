// Boost.JSON's definitions, compiled once: Debian packages only its headers for us.

#include <boost/json/src.hpp>
