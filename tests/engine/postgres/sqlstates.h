// Every SQLSTATE of Postgres 14 to 18, and what it means: the table of sqlstate.cc said again by
// hand, code by code.

#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "engine/postgres/sqlstate.h"

namespace engine::postgres {

struct SqlStateGroup {
  absl::StatusCode code;
  AfterError after;
  std::string_view states;  // Each followed by a space.
};

inline constexpr SqlStateGroup kSqlStates[] = {
    {absl::StatusCode::kUnavailable, AfterError::kDrop,
     "08000 08003 08006 08001 08004 08007 08P01 0A000 25006 25P03 26000 28000 28P01 3D000 "
     "3F000 40003 42703 42P01 42P05 53000 53200 53300 53400 57000 57P01 57P02 57P03 57P04 "
     "57P05 58000 58030 58P01 58P02 25P04 "},
    {absl::StatusCode::kAborted, AfterError::kKeep, "23505 40000 40002 40001 40P01 72000 "},
    {absl::StatusCode::kDeadlineExceeded, AfterError::kKeep, "22003 55P03 57014 "},
    {absl::StatusCode::kResourceExhausted, AfterError::kKeep, "53100 "},
    {absl::StatusCode::kInvalidArgument, AfterError::kKeep,
     "22000 2202E 22021 22008 22005 2200B 22022 22015 2201E 22014 22016 2201F 2201G 22018 "
     "22007 22019 2200D 22025 22P06 22010 22023 22013 2201B 2201W 2201X 2202H 2202G 22009 "
     "2200C 2200G 22004 22002 2200H 22026 22001 22011 22027 22024 2200F 22P01 22P02 "
     "22P03 22P04 22P05 2200L 2200M 2200N 2200S 2200T 22030 22031 22032 22033 22034 22035 "
     "22036 22037 22038 22039 2203A 2203B 2203C 2203D 2203E 2203F 2203G 23000 23001 23502 "
     "23503 23514 23P01 54000 54001 54011 54023 "},
    {absl::StatusCode::kPermissionDenied, AfterError::kKeep, "42501 "},
    {absl::StatusCode::kDataLoss, AfterError::kDrop, "XX001 XX002 "},
    {absl::StatusCode::kInternal, AfterError::kDrop,
     "25000 25001 25002 25008 25003 25004 25005 25007 25P01 25P02 XX000 "},
    {absl::StatusCode::kInternal, AfterError::kKeep,
     "00000 01000 0100C 01008 01003 01007 01006 01004 01P01 02000 02001 03000 09000 0B000 "
     "0F000 0F001 0L000 0LP01 0P000 0Z000 0Z002 20000 21000 22012 24000 27000 2B000 2BP01 "
     "2D000 2F000 2F005 2F002 2F003 2F004 34000 38000 38001 38002 38003 38004 39000 39001 "
     "39004 39P01 39P02 39P03 3B000 3B001 42000 42601 42846 42803 42P20 42P19 42830 42602 "
     "42622 42939 42804 42P18 42P21 42P22 42809 428C9 42883 42P02 42704 42701 42P03 42P04 "
     "42723 42P06 42P07 42712 42710 42702 42725 42P08 42P09 42P10 42611 42P11 42P12 42P13 "
     "42P14 42P15 42P16 42P17 44000 55000 55006 55P02 55P04 F0000 F0001 HV000 HV005 HV002 "
     "HV010 HV021 HV024 HV007 HV008 HV004 HV006 HV091 HV00B HV00C HV00D HV090 HV00A HV009 "
     "HV014 HV001 HV00P HV00J HV00K HV00Q HV00R HV00L HV00M HV00N P0000 P0001 P0002 P0003 "
     "P0004 "},
};

inline std::vector<std::string> StatesOf(const SqlStateGroup& group) {
  std::vector<std::string> states;
  for (std::size_t at = 0; at + 5 <= group.states.size(); at += 6) {
    states.emplace_back(group.states.substr(at, 5));
  }
  return states;
}

}  // namespace engine::postgres
