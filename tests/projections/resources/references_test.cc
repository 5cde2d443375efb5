// References: what a create or a patch may name, and what holds a target.

#include "projections/resources/references.h"

#include <string>
#include <vector>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "projections/resources/rules.h"
#include "tests/projections/resources/requests.h"
#include "tests/projections/resources/store.h"

namespace projections {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;
using testing::IsEmpty;

class ReferenceTest : public testing::Test {
 protected:
  CreateRequest Source(const std::string& kind, RequestedReferences references) {
    CreateRequest request = Creation(store_, kind, "source-" + std::to_string(++sources_));
    request.references = std::move(references);
    return request;
  }
  std::string AddSource(const std::string& kind, RequestedReferences references) {
    const CreateRequest request = Source(kind, std::move(references));
    const Judgement judgement = store_.Do(request);
    EXPECT_FALSE(judgement.refusal.has_value()) << judgement.refusal->detail;
    return request.id;
  }
  // `constraint: detail` of the first error of a refusal; "ok" if there is none.
  std::string Verdict(const std::string& kind, RequestedReferences references) {
    return VerdictOf(store_.Judge(Source(kind, std::move(references))));
  }
  static std::string VerdictOf(const Judgement& judgement) {
    if (!judgement.refusal.has_value()) {
      return "ok";
    }
    EXPECT_EQ(judgement.refusal->reason, RefusalReason::kInvalidReference);
    EXPECT_FALSE(judgement.refusal->errors.empty());
    return judgement.refusal->errors.front().constraint + ": " + judgement.refusal->detail;
  }
  std::vector<std::string> Targets(const std::string& id) {
    std::vector<std::string> targets;
    for (const ReferenceState& reference : ReferencesOf(store_.Find(id)->table())) {
      targets.push_back(reference.target_id);
    }
    return targets;
  }
  std::vector<std::string> Sources(const std::string& target) {
    std::vector<std::string> sources;
    for (const ResourceEntry* source : store_.image()->Sources(target)) {
      sources.emplace_back(source->id());
    }
    return sources;
  }
  // A record that no request makes: what an import or another registry may have left.
  void Write(ResourceState state) {
    const ResourceEntry* before = store_.Find(state.id);
    engine::Proposal proposal;
    proposal.records.push_back(
        {ResourcesImage::kStream, state.id,
         before == nullptr ? engine::Position::kBeforeFirst : before->position(), 0,
         EncodeResource(state)});
    store_.Commit(proposal);
  }
  void MarkDeleted(const std::string& id) {
    ResourceState state = StateOf(store_.Find(id)->table());
    state.deletion = DeletionState{store_.now(), "carol"};
    Write(std::move(state));
  }

  TestStore store_{WithReferences()};
  const std::string a_ = store_.Add("RefTarget", "a");
  const std::string b_ = store_.Add("RefTarget", "b");
  int sources_ = 0;
};

TEST_F(ReferenceTest, OfVeryManyUnknownTypesOnlySomeAreNamed) {
  RequestedReferences references;
  for (int i = 0; i < 1000; ++i) {
    references["t" + std::to_string(i)] = {};
  }
  EXPECT_EQ(CheckReferences(references, *store_.registry().FindKind("OptSource")).size(), 20U);
}

TEST_F(ReferenceTest, ACreateNamesTargetsOfItsTypes) {  // 76
  EXPECT_EQ(Verdict("RefSource", To("dep", "RefTarget", {a_})), "ok");
  EXPECT_THAT(Verdict("RefSource", To("other", "RefTarget", {a_})),
              HasSubstr("no reference type 'other'"));
  EXPECT_THAT(Verdict("RefTarget", To("dep", "RefTarget", {a_})),
              HasSubstr("no reference type 'dep'"));
  const std::string source = AddSource("RefSource", To("dep", "RefTarget", {a_}));
  EXPECT_THAT(Targets(source), ElementsAre(a_));
  EXPECT_THAT(Sources(a_), ElementsAre(source));
  EXPECT_THAT(Sources(b_), IsEmpty());
}

TEST_F(ReferenceTest, TheMinimumIsDemanded) {  // 76
  EXPECT_THAT(Verdict("RefSource", {}), HasSubstr("min: references.dep: at least 1"));
  EXPECT_THAT(Verdict("RefSource", {{"dep", {}}}), HasSubstr("min: "));
  EXPECT_EQ(Verdict("OptSource", {}), "ok");
}

TEST_F(ReferenceTest, TheMaximumIsKept) {  // 76
  EXPECT_THAT(Verdict("RefSource", To("dep", "RefTarget", {a_, b_})),
              HasSubstr("max: references.dep: at most 1"));
  EXPECT_EQ(Verdict("OptSource", To("link", "RefTarget", {a_, b_})), "ok");
}

TEST_F(ReferenceTest, ATargetHasAnIdOnce) {  // 78
  EXPECT_THAT(Verdict("OptSource", To("link", "RefTarget", {""})), HasSubstr("required: "));
  EXPECT_THAT(Verdict("OptSource", To("link", "RefTarget", {a_, b_, a_})),
              HasSubstr("unique: references.link: duplicate target id '" + a_));
}

TEST_F(ReferenceTest, TheKindIsTheTypes) {  // 76
  for (const std::string kind : {"OptSource", "reftarget", ""}) {
    EXPECT_THAT(Verdict("OptSource", To("link", kind, {a_})),
                HasSubstr("does not match expected target kind"));
  }
}

TEST_F(ReferenceTest, ATargetExistsAndIsOfTheKind) {  // 76
  const std::string nobody = store_.NextId();
  EXPECT_THAT(Verdict("OptSource", To("link", "RefTarget", {nobody})), HasSubstr("not found"));
  const std::string other = AddSource("OptSource", {});
  EXPECT_THAT(Verdict("OptSource", To("link", "RefTarget", {other})), HasSubstr("not found"));
}

TEST_F(ReferenceTest, ATargetOnItsWayOutWillNotDo) {  // 78
  MarkDeleted(a_);
  EXPECT_THAT(Verdict("OptSource", To("link", "RefTarget", {a_})),
              HasSubstr("marked for deletion"));
  const std::string source = AddSource("OptSource", {});
  EXPECT_THAT(VerdictOf(store_.Judge(PatchReferences(source, To("link", "RefTarget", {b_, a_})))),
              HasSubstr("marked for deletion"));
}

TEST_F(ReferenceTest, AllThatIsWrongIsReported) {
  RequestedReferences wrong = To("link", "RefTarget", {a_, a_});
  wrong["nope"] = {{a_, "RefTarget"}};
  EXPECT_EQ(CheckReferences(wrong, *store_.registry().FindKind("RefSource")).size(), 3U);
}

TEST_F(ReferenceTest, OfThousandsOfBadTargetsSomeAreTold) {
  const std::vector<std::string> same(5000, a_);
  const auto descriptor = store_.registry().FindKind("OptSource");
  EXPECT_LT(CheckReferences(To("link", "RefTarget", same), *descriptor).size(), 25U);
  std::vector<std::string> missing;
  for (int i = 0; i < 5000; ++i) {
    missing.push_back(store_.NextId());
  }
  const Judgement refused = store_.Judge(Source("OptSource", To("link", "RefTarget", missing)));
  EXPECT_EQ(ReasonOf(refused), RefusalReason::kInvalidReference);
  EXPECT_LT(refused.refusal->errors.size(), 25U);
}

TEST_F(ReferenceTest, APatchReplacesThemAllOrNone) {  // 77
  const std::string source = AddSource("RefSource", To("dep", "RefTarget", {a_}));
  store_.Do(PatchReferences(source, To("dep", "RefTarget", {b_})));
  EXPECT_THAT(Targets(source), ElementsAre(b_));
  EXPECT_THAT(Sources(a_), IsEmpty());
  EXPECT_THAT(Sources(b_), ElementsAre(source));
  EXPECT_EQ(store_.Find(source)->table().generation(), 2);

  store_.PatchSpec(source, R"({"x":1})");
  EXPECT_THAT(Sources(b_), ElementsAre(source));
  EXPECT_THAT(VerdictOf(store_.Judge(PatchReferences(source, {}))), HasSubstr("min: "));
  EXPECT_THAT(Targets(source), ElementsAre(b_));

  const std::string optional = AddSource("OptSource", To("link", "RefTarget", {b_, a_}));
  EXPECT_THAT(Targets(optional), ElementsAre(a_, b_));
  store_.Do(PatchReferences(optional, {}));
  EXPECT_THAT(Targets(optional), IsEmpty());
}

TEST_F(ReferenceTest, IdenticalOnesChangeNothing) {
  const std::string source = AddSource("OptSource", To("link", "RefTarget", {a_, b_}));
  const std::size_t written = store_.log().size();
  const Judgement same = store_.Do(PatchReferences(source, To("link", "RefTarget", {b_, a_})));
  EXPECT_FALSE(same.refusal.has_value());
  EXPECT_EQ(store_.log().size(), written);
  EXPECT_EQ(same.unchanged_position, store_.Find(source)->position());
}

TEST_F(ReferenceTest, AReferencedTargetStays) {  // 79
  const std::string source = AddSource("RefSource", To("dep", "RefTarget", {a_}));
  const std::uint64_t before = store_.image()->StateDigest();
  const Judgement refused = store_.Judge(DeleteRequest{{a_, {}, {}}, {}, "carol"});
  ASSERT_EQ(ReasonOf(refused), RefusalReason::kReferenced);
  EXPECT_THAT(refused.refusal->detail, HasSubstr("RefSource 'source-1'"));
  store_.Delete(a_);
  EXPECT_EQ(store_.image()->StateDigest(), before);
  store_.Delete(source);
  store_.Delete(a_);
  EXPECT_EQ(store_.Find(a_), nullptr);
}

TEST_F(ReferenceTest, ATargetOfAnotherTenantIsNotThere) {
  CreateRequest target = Creation(store_, "RefTarget", "theirs");
  target.tenancy = {{"org", "other"}};
  store_.Do(target);
  CreateRequest source = Source("OptSource", To("link", "RefTarget", {target.id}));
  source.tenant = TenantScope::Of({{"org", "mine"}});
  EXPECT_THAT(VerdictOf(store_.Judge(source)), HasSubstr("not found"));
  source.tenant = TenantScope::Of({{"org", "other"}});
  EXPECT_EQ(VerdictOf(store_.Judge(source)), "ok");
}

TEST_F(ReferenceTest, ARefusalNamesOnlyWhatTheCallerSees) {
  CreateRequest target = Creation(store_, "RefTarget", "project");
  target.tenancy = {{"org", "mine"}, {"project", "p"}};
  store_.Do(target);
  CreateRequest source = Source("OptSource", To("link", "RefTarget", {target.id}));
  source.tenancy = {{"org", "mine"}};
  store_.Do(source);
  CreateRequest another = Source("OptSource", To("link", "RefTarget", {target.id}));
  another.tenancy = source.tenancy;
  store_.Do(another);
  const auto refusal = [&](const TenantScope& tenant) {
    return store_.Judge(DeleteRequest{{target.id, {}, {}, tenant}, {}, "carol"}).refusal;
  };
  // It counts whoever asks.
  const auto hidden = refusal(TenantScope::Of(target.tenancy));
  ASSERT_TRUE(hidden.has_value());
  EXPECT_EQ(hidden->reason, RefusalReason::kReferenced);
  EXPECT_THAT(hidden->detail, testing::EndsWith("referenced by what is not shown here"))
      << "nor is it told how many";
  EXPECT_THAT(refusal(TenantScope::Of({{"org", "mine"}}))->detail, HasSubstr(source.name));
}

TEST_F(ReferenceTest, SoDoesTheOwnerOfWhatIsReferenced) {
  const std::string part = store_.Add("Part", "p", a_);
  const std::string source = AddSource("OptSource", To("part", "Part", {part}));
  EXPECT_EQ(ReasonOf(store_.Delete(a_)), RefusalReason::kReferenced);
  store_.Do(PatchReferences(source, {}));
  EXPECT_FALSE(store_.Delete(a_).refusal.has_value());
  EXPECT_EQ(store_.Find(part), nullptr);
}

TEST_F(ReferenceTest, WhatGoesTogetherMayReferToEachOther) {
  const std::string part = store_.Add("Part", "p", a_);
  const std::string other = store_.Add("Part", "q", a_);
  store_.Do(PatchReferences(part, To("sibling", "Part", {other, part})));
  ASSERT_THAT(Sources(other), ElementsAre(part));
  EXPECT_EQ(ReasonOf(store_.Delete(other)), RefusalReason::kReferenced);
  EXPECT_FALSE(store_.Delete(a_).refusal.has_value());
  EXPECT_EQ(store_.image()->size(), 1U);
}

TEST_F(ReferenceTest, AnythingMayReferToItself) {
  const std::string source = AddSource("OptSource", {});
  store_.Do(PatchReferences(source, To("self", "OptSource", {source})));
  ASSERT_THAT(Sources(source), ElementsAre(source));
  store_.Delete(source);
  EXPECT_EQ(store_.Find(source), nullptr);
  EXPECT_THAT(Sources(source), IsEmpty());
}

TEST_F(ReferenceTest, ManySourcesAreNamedInPart) {
  for (int i = 0; i < 12; ++i) {
    AddSource("OptSource", To("link", "RefTarget", {a_}));
  }
  const Judgement refused = store_.Delete(a_);
  EXPECT_THAT(refused.refusal->detail, HasSubstr("'source-10' and 2 more"));
}

// What only a record of other times can bring about: something refers to what is finalizing.
TEST_F(ReferenceTest, AForceDeleteReleasesWhatStays) {
  const std::string source = AddSource("OptSource", To("link", "RefTarget", {a_, b_}));
  const std::string part = store_.Add("Part", "p", a_);
  RequestedReferences more = To("link", "RefTarget", {a_, b_});
  more["part"] = {{part, "Part"}};
  store_.Do(PatchReferences(source, more));
  const ResourceState before = StateOf(store_.Find(source)->table());
  MarkDeleted(a_);
  const engine::Timestamp now = store_.now();
  const Judgement judgement = store_.ForceDelete(a_);
  EXPECT_THAT(KeysOf(judgement), ElementsAre(a_, part, source));
  EXPECT_EQ(judgement.proposal.audit->details.at("removed"), "2");
  EXPECT_EQ(judgement.proposal.audit->details.at("released"), "1");
  ResourceState expected = before;
  expected.references = {{"link", b_, "RefTarget"}};
  expected.updated_time = now;
  expected.updated_by = "dave";
  EXPECT_EQ(store_.Find(source)->payload().view(), EncodeResource(expected));
  EXPECT_THAT(Sources(b_), ElementsAre(source));
}

TEST_F(ReferenceTest, AForceDeleteThatBreaksAMinimumIsRefused) {
  const std::string source = AddSource("RefSource", To("dep", "RefTarget", {a_}));
  MarkDeleted(a_);
  const Judgement refused = store_.ForceDelete(a_);
  ASSERT_EQ(ReasonOf(refused), RefusalReason::kNeedsReference);
  EXPECT_THAT(refused.refusal->detail, HasSubstr("RefSource 'source-1'"));
  EXPECT_NE(store_.Find(a_), nullptr);
  store_.Do(PatchReferences(source, To("dep", "RefTarget", {b_})));
  EXPECT_FALSE(store_.ForceDelete(a_).refusal.has_value());
  EXPECT_EQ(store_.Find(a_), nullptr);
}

TEST_F(ReferenceTest, ItIsNotNamedToWhoDoesNotSeeIt) {
  CreateRequest target = Creation(store_, "RefTarget", "project");
  target.tenancy = {{"org", "mine"}, {"project", "p"}};
  store_.Do(target);
  CreateRequest source = Source("RefSource", To("dep", "RefTarget", {target.id}));
  source.tenancy = {{"org", "mine"}};
  store_.Do(source);
  MarkDeleted(target.id);
  const auto detail = [&](const TenantScope& tenant) {
    const Judgement judgement =
        store_.Judge(ForceDeleteRequest{{target.id, {}, {}, tenant}, {}, "carol", "stuck"});
    EXPECT_EQ(ReasonOf(judgement), RefusalReason::kNeedsReference);
    return judgement.refusal->detail;
  };
  EXPECT_THAT(detail(TenantScope::Of({{"org", "mine"}})), HasSubstr(source.name));
  EXPECT_THAT(detail(TenantScope::Of(target.tenancy)), testing::StartsWith("a resource refers"));
}

TEST_F(ReferenceTest, ManyOfThemCountTowardsTheSize) {
  std::vector<std::string> ids;
  for (int i = 0; i < 9500; ++i) {
    ids.push_back(store_.Add("RefTarget", "t-" + std::to_string(i)));
  }
  const Judgement refused = store_.Judge(Source("OptSource", To("link", "RefTarget", ids)));
  EXPECT_EQ(ReasonOf(refused), RefusalReason::kTooLarge);
  ids.resize(5000);
  const Judgement taken = store_.Do(Source("OptSource", To("link", "RefTarget", ids)));
  ASSERT_FALSE(taken.refusal.has_value());
  EXPECT_LE(taken.proposal.records.front().payload.size(), engine::kMaxRecordBytes);
}

TEST_F(ReferenceTest, AListShowsTheSourcesOfATarget) {  // 80
  std::vector<std::string> sources;
  for (int i = 0; i < 5; ++i) {
    sources.push_back(AddSource("OptSource", To("link", "RefTarget", {a_, b_})));
  }
  AddSource("RefSource", To("dep", "RefTarget", {a_}));
  store_.Do(PatchReferences(sources[0], To("link", "RefTarget", {b_})));
  const auto list = [this](std::string_view kind, std::string_view type, std::string_view target) {
    return store_.image()->List({.kind = kind, .ref_target_id = target, .ref_type = type},
                                {.size = 2});
  };
  const ListPage page = list("OptSource", "link", a_);
  EXPECT_EQ(page.total, 4U);
  ASSERT_EQ(page.items.size(), 2U);
  EXPECT_EQ(page.items[0]->id(), sources[4]);
  EXPECT_EQ(list("OptSource", "link", b_).total, 5U);
  EXPECT_EQ(list("OptSource", "self", a_).total, 0U);
  EXPECT_EQ(list("RefSource", "dep", a_).total, 1U);
  EXPECT_EQ(list("RefSource", "dep", store_.NextId()).total, 0U);
}

TEST_F(ReferenceTest, TenThousandSourcesAreListedFromAnIndex) {
  for (int i = 0; i < 10'000; ++i) {
    AddSource("OptSource", To("link", "RefTarget", {a_}));
  }
  const ListScope scope{.kind = "OptSource", .ref_target_id = a_, .ref_type = "link"};
  const ListPage last = store_.image()->List(scope, {.page = 500});
  EXPECT_EQ(last.total, 10'000U);
  EXPECT_EQ(last.items.size(), 20U);
  EXPECT_EQ(last.items.back()->name(), "source-1");
  EXPECT_THAT(store_.Delete(a_).refusal->detail, HasSubstr("and 9990 more"));
}

TEST_F(ReferenceTest, ANestedListShowsThoseOfItsOwner) {
  const std::string target = store_.Add("Part", "t", a_);
  const std::string mine = store_.Add("Part", "m", a_);
  const std::string theirs = store_.Add("Part", "m", b_);
  for (const std::string& id : {mine, theirs}) {
    store_.Do(PatchReferences(id, To("sibling", "Part", {target})));
  }
  const ListScope scope{
      .kind = "Part", .owner_id = b_, .ref_target_id = target, .ref_type = "sibling"};
  const ListPage page = store_.image()->List(scope, {});
  ASSERT_EQ(page.items.size(), 1U);
  EXPECT_EQ(page.items[0]->id(), theirs);
  EXPECT_EQ(store_.image()->Count(scope), 1U);
}

}  // namespace
}  // namespace projections
