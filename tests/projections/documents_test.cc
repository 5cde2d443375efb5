// Documents: written in a live term or not at all, one version after another.

#include "projections/documents.h"

#include <gmock/gmock.h>

#include "engine/follower.h"
#include "engine/memory/memory.h"
#include "schemas/codec.h"
#include "schemas/document_generated.h"
#include "tests/support/row_builder.h"
#include "tests/support/status_matchers.h"

namespace projections {
namespace {

using engine::Deadline;
using engine::DocumentId;
using engine::Fence;
using engine::FencedOutcome;
using engine::FencedWriter;
using engine::IsFenced;
using engine::IsVersionConflict;
using engine::kNoVersion;
using engine::Position;
using support::Soon;
using support::StatusIs;

const DocumentId kRollout = {"rollout", "checkout-2"};

class DocumentsTest : public testing::Test {
 protected:
  void SetUp() override {
    engine_ = engine::memory::Open(schemas::Streams());
    std::vector<std::unique_ptr<engine::Projection>> folds;
    folds.push_back(std::make_unique<DocumentsProjection>(schemas::kControllerStateStream));
    folds.push_back(std::make_unique<DocumentsProjection>(schemas::kDocumentsStream));
    follower_ = std::make_unique<engine::Follower>(std::move(folds));
    engine::CommitterOptions options;
    options.audit_stream = schemas::kAuditStream;
    committer_ =
        std::make_unique<engine::Committer>(engine_->journal(), *follower_, nullptr, options);
  }

  Fence Take(const std::string& holder) {
    const auto answer =
        engine_->leases().Acquire("controller", holder, std::chrono::minutes(5), Soon());
    EXPECT_OK(answer);
    EXPECT_TRUE(answer->held);
    return {.lease = "controller", .holder = holder, .token = answer->token};
  }

  template <class Image = Documents>
  const Document* Find(const DocumentId& id) {
    seen_ = follower_->view();
    const auto image = engine::ImageIn<Image>(*seen_);
    EXPECT_OK(image);
    return (*image)->Find(id);
  }

  std::unique_ptr<engine::Engine> engine_;
  std::unique_ptr<engine::Follower> follower_;
  std::unique_ptr<engine::Committer> committer_;
  engine::ViewPtr seen_;
};

TEST_F(DocumentsTest, AreReadAsTheyWereWritten) {
  FencedWriter writer(*committer_, Take("one"));
  const std::string body("any \0 bytes", 11);
  const FencedOutcome put =
      DocumentWriter<Documents>(writer).Put({kRollout, kNoVersion, body}, Soon());
  ASSERT_OK(put.status);
  const Document* document = Find(kRollout);
  ASSERT_NE(document, nullptr);
  EXPECT_EQ(document->body, body);
  EXPECT_EQ(document->version, put.position);
  EXPECT_EQ(document->lease, "controller");
  EXPECT_EQ(document->token, writer.fence().token);
  EXPECT_EQ(Find<ControllerState>(kRollout), nullptr) << "another stream, another document";
}

TEST_F(DocumentsTest, AWriteReplacesTheVersionThatItNames) {
  FencedWriter writer(*committer_, Take("one"));
  DocumentWriter<Documents> documents(writer);
  const Position first = documents.Put({kRollout, kNoVersion, "1"}, Soon()).position;
  const FencedOutcome second = documents.Put({kRollout, first, "2"}, Soon());
  ASSERT_OK(second.status);
  EXPECT_GT(second.position, first);
  for (const Position stale : {kNoVersion, first, Position{99}}) {
    const FencedOutcome lost = documents.Put({kRollout, stale, "lost"}, Soon());
    EXPECT_TRUE(IsVersionConflict(lost.status)) << lost.status;
    EXPECT_FALSE(IsFenced(lost.status));
  }
  EXPECT_EQ(Find(kRollout)->body, "2");
  EXPECT_FALSE(writer.ended());
}

// Two ticks of one term: the fence lets both write, the version only one.
TEST_F(DocumentsTest, TwoTicksOfOneTermLoseNoUpdate) {
  const Fence term = Take("one");
  FencedWriter one(*committer_, term);
  FencedWriter two(*committer_, term);
  const Position version =
      DocumentWriter<Documents>(one).Put({kRollout, kNoVersion, "0"}, Soon()).position;
  ASSERT_OK(DocumentWriter<Documents>(two).Put({kRollout, version, "two"}, Soon()).status);
  EXPECT_TRUE(IsVersionConflict(
      DocumentWriter<Documents>(one).Put({kRollout, version, "one"}, Soon()).status));
  EXPECT_EQ(Find(kRollout)->body, "two");
}

TEST_F(DocumentsTest, ARemovedDocumentIsGoneAndItsVersionsDoNotComeBack) {
  FencedWriter writer(*committer_, Take("one"));
  DocumentWriter<ControllerState> documents(writer);
  EXPECT_TRUE(IsVersionConflict(documents.Remove({kRollout, kNoVersion, ""}, Soon()).status));
  const Position first = documents.Put({kRollout, kNoVersion, "1"}, Soon()).position;
  ASSERT_OK(documents.Remove({kRollout, first, ""}, Soon()).status);
  EXPECT_EQ(Find<ControllerState>(kRollout), nullptr);
  EXPECT_TRUE(IsVersionConflict(documents.Put({kRollout, first, "stale"}, Soon()).status));
  const FencedOutcome again = documents.Put({kRollout, kNoVersion, "2"}, Soon());
  ASSERT_OK(again.status);
  EXPECT_GT(again.position, first);
}

TEST_F(DocumentsTest, ADeposedTermWritesNothingWhateverItBelieves) {
  FencedWriter deposed(*committer_, Take("one"));
  const Position version =
      DocumentWriter<Documents>(deposed).Put({kRollout, kNoVersion, "one"}, Soon()).position;
  ASSERT_OK(engine_->leases().Release(deposed.fence(), Soon()));
  FencedWriter leader(*committer_, Take("two"));
  EXPECT_GT(leader.fence().token, deposed.fence().token);
  const FencedOutcome refused =
      DocumentWriter<Documents>(deposed).Put({kRollout, version, "deposed"}, Soon());
  EXPECT_TRUE(IsFenced(refused.status)) << refused.status;
  EXPECT_TRUE(deposed.ended());
  EXPECT_EQ(Find(kRollout)->body, "one");
  ASSERT_OK(DocumentWriter<Documents>(leader).Put({kRollout, version, "two"}, Soon()).status);
  EXPECT_EQ(Find(kRollout)->token, leader.fence().token);
  const std::uint64_t judged = committer_->counters().commands;
  EXPECT_TRUE(
      IsFenced(DocumentWriter<Documents>(deposed).Put({kRollout, version, "late"}, Soon()).status));
  EXPECT_EQ(committer_->counters().commands, judged) << "a term that is over asks nobody";
}

TEST_F(DocumentsTest, WhatIsNoDocumentIsRefused) {
  FencedWriter writer(*committer_, Take("one"));
  DocumentWriter<Documents> documents(writer);
  const auto put = [&](const DocumentId& id, const std::string& body) {
    return documents.Put({id, kNoVersion, body}, Soon()).status;
  };
  const auto invalid = StatusIs(absl::StatusCode::kInvalidArgument);
  EXPECT_THAT(put({"", "name"}, ""), invalid);
  EXPECT_THAT(put({"Kind", "name"}, ""), invalid);
  EXPECT_THAT(put({"a/b", "name"}, ""), invalid);
  EXPECT_THAT(put({"kind", ""}, ""), invalid);
  EXPECT_THAT(put({"kind", "two words"}, ""), invalid);
  EXPECT_THAT(put({"kind", std::string(engine::kMaxDocumentNameBytes + 1, 'n')}, ""), invalid);
  EXPECT_THAT(put(kRollout, std::string(engine::kMaxDocumentBytes + 1, 'x')), invalid);
  EXPECT_OK(put({std::string(engine::kMaxDocumentKindBytes, 'k'),
                 std::string(engine::kMaxDocumentNameBytes, 'n')},
                std::string(engine::kMaxDocumentBytes, 'x')));
}

// A fold of one stream, by hand.
engine::Record RecordOf(std::uint64_t position, const std::string& key, const std::string& name,
                        bool removed = false) {
  flatbuffers::FlatBufferBuilder body;
  const auto kind = body.CreateString("rollout");
  const auto text = body.CreateString(name);
  const auto lease = body.CreateString("controller");
  engine::Record record;
  record.stream = schemas::kDocumentsStream;
  record.position = Position{position};
  record.key = key;
  const auto bytes = body.CreateVector(std::vector<std::uint8_t>{1, 2, 3});
  record.payload = engine::Payload(
      removed ? schemas::Encode(body, schemas::CreateDocumentTombstone(body, kind, text, lease, 7))
              : schemas::Encode(body, schemas::CreateDocument(body, kind, text, bytes, lease, 7)));
  return record;
}

TEST(DocumentsProjectionTest, ARecordOfAnotherKeyIsDamage) {
  DocumentsProjection fold(schemas::kDocumentsStream);
  ASSERT_OK(fold.Apply(RecordOf(1, "rollout/a", "a")));
  const std::uint64_t digest = fold.Publish()->StateDigest();
  EXPECT_THAT(fold.Apply(RecordOf(2, "rollout/a", "b")), StatusIs(absl::StatusCode::kDataLoss));
  EXPECT_THAT(fold.Apply(RecordOf(2, "rollout/b", "a", true)),
              StatusIs(absl::StatusCode::kDataLoss));
  EXPECT_EQ(fold.Publish()->StateDigest(), digest);
}

TEST(DocumentsProjectionTest, TheDigestIsOfTheStateAlone) {
  DocumentsProjection long_way(schemas::kDocumentsStream);
  ASSERT_OK(long_way.Apply(RecordOf(1, "rollout/a", "a")));
  ASSERT_OK(long_way.Apply(RecordOf(2, "rollout/b", "b")));
  ASSERT_OK(long_way.Apply(RecordOf(3, "rollout/a", "a")));
  ASSERT_OK(long_way.Apply(RecordOf(4, "rollout/b", "b", true)));
  DocumentsProjection short_way(schemas::kDocumentsStream);
  ASSERT_OK(short_way.Apply(RecordOf(3, "rollout/a", "a")));
  EXPECT_EQ(long_way.Publish()->StateDigest(), short_way.Publish()->StateDigest());
  EXPECT_NE(long_way.Publish()->StateDigest(),
            DocumentsProjection(schemas::kDocumentsStream).Publish()->StateDigest());
}

TEST(DocumentsProjectionTest, AStateIsSavedAndLoaded) {
  DocumentsProjection fold(schemas::kDocumentsStream);
  ASSERT_OK(fold.Apply(RecordOf(1, "rollout/a", "a")));
  ASSERT_OK(fold.Apply(RecordOf(2, "rollout/b", "b")));
  std::vector<std::string> parts;
  ASSERT_OK(fold.Publish()->Save([&](std::string_view part) {
    parts.emplace_back(part);
    return absl::OkStatus();
  }));
  DocumentsProjection loaded(schemas::kDocumentsStream);
  for (const std::string& part : parts) {
    ASSERT_OK(loaded.Load(part));
  }
  EXPECT_EQ(loaded.Publish()->StateDigest(), fold.Publish()->StateDigest());
  loaded.Reset();
  EXPECT_THAT(loaded.Load(parts[0].substr(0, 20)), StatusIs(absl::StatusCode::kDataLoss));
}

}  // namespace
}  // namespace projections
