#include "engine/footprint.h"

#include <gtest/gtest.h>

namespace engine {
namespace {

TEST(FootprintTest, ReadsWritesAndPrefixesTouchWhatWasChanged) {
  Footprint writer;
  writer.Write("n/clusters/a");
  ChangedFacts changed;
  changed.Add(writer);

  const auto touches = [&](auto note) {
    Footprint footprint;
    note(footprint);
    return changed.Touch(footprint);
  };
  EXPECT_TRUE(touches([](Footprint& f) { f.Read("n/clusters/a"); }));
  EXPECT_TRUE(touches([](Footprint& f) { f.Write("n/clusters/a"); }));
  EXPECT_TRUE(touches([](Footprint& f) { f.ReadPrefix("n/clusters/"); }));
  EXPECT_TRUE(touches([](Footprint& f) { f.ReadPrefix(""); }));
  EXPECT_FALSE(touches([](Footprint& f) { f.Read("n/clusters/b"); }));
  EXPECT_FALSE(touches([](Footprint& f) { f.ReadPrefix("n/clusters/b"); }));
  EXPECT_FALSE(touches([](Footprint& f) { f.ReadPrefix("m/"); }));
  EXPECT_FALSE(touches([](Footprint&) {}));
}

TEST(FootprintTest, WhatWasOnlyReadIsNoChange) {
  Footprint reader;
  reader.Read("a");
  reader.ReadPrefix("b/");
  ChangedFacts changed;
  changed.Add(reader);
  Footprint writer;
  writer.Write("a");
  writer.Write("b/1");
  EXPECT_FALSE(changed.Touch(writer));
}

}  // namespace
}  // namespace engine
