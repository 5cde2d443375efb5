#include "engine/expected_head.h"

#include <gmock/gmock.h>

#include "engine/audit_chain.h"
#include "engine/memory/memory.h"
#include "tests/support/row_builder.h"
#include "tests/support/status_matchers.h"

namespace engine {
namespace {

using support::AppendOne;
using support::kAudit;
using support::Soon;
using support::StatusIs;

// More entries than are read at once.
class ExpectedHeadTest : public testing::Test {
 protected:
  void SetUp() override {
    for (int i = 1; i <= 600; ++i) {
      AppendOne(store_->journal(), kAudit, "", "entry " + std::to_string(i));
    }
  }
  absl::Status Find(const std::string& payload) {
    return FindAuditEntry(store_->journal(), kAudit, AuditHash(payload), Soon());
  }
  const std::unique_ptr<Engine> store_ = memory::Open(support::Streams());
};

TEST_F(ExpectedHeadTest, AnEntryIsFoundWhereverItIs) {
  EXPECT_OK(Find("entry 600"));
  EXPECT_OK(Find("entry 88"));
  EXPECT_OK(Find("entry 1"));
}

TEST_F(ExpectedHeadTest, AHistoryThatWentBackDoesNotHoldIt) {
  EXPECT_THAT(Find("entry 601"), StatusIs(absl::StatusCode::kFailedPrecondition,
                                          testing::HasSubstr("none of the 600 audit entries")));
}

TEST_F(ExpectedHeadTest, AnEmptyHistoryHoldsNothing) {
  const std::unique_ptr<Engine> empty = memory::Open(support::Streams());
  EXPECT_THAT(FindAuditEntry(empty->journal(), kAudit, AuditHash("entry 1"), Soon()),
              StatusIs(absl::StatusCode::kFailedPrecondition));
}

}  // namespace
}  // namespace engine
