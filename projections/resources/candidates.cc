#include "projections/resources/candidates.h"

#include <algorithm>
#include <iterator>
#include <set>
#include <string>
#include <string_view>
#include <utility>
#include <variant>

#include "projections/resources/candidate_ranges.h"
#include "projections/search/tree.h"

namespace projections {
namespace {

using search::FieldKind;
using search::Node;
using search::NodeKind;
using search::Operator;
using search::Test;

class Finder {
 public:
  Finder(const ResourcesImage& image, const StatusesImage* statuses, const ListScope& scope)
      : image_(image), trees_(image.trees()), statuses_(statuses), scope_(scope) {}

  Candidates Find(const ListOptions& options) {
    ConsiderScope();
    ConsiderTenant();
    if (options.search != nullptr) {
      Consider(*options.search, kAsksSearch);
    }
    return std::move(best_);
  }

 private:
  void Offer(std::vector<RangePtr> ranges, unsigned covers, bool in_order, bool is_found = false) {
    Candidates candidates{std::move(ranges), covers, in_order, is_found};
    candidates.in_order = in_order && candidates.ranges.size() == 1;
    // Of two that are equally long, the one that leaves less to be looked at.
    const auto rank = [](const Candidates& c) {
      return std::pair(c.size(), -static_cast<int>(c.covers));
    };
    if (!has_best_ || rank(candidates) < rank(best_)) {
      best_ = std::move(candidates);
      has_best_ = true;
    }
  }

  void ConsiderScope() {
    if (!scope_.owner_id.empty()) {
      Offer({Equal(trees_.by_owner, OwnerKindProbe(scope_.owner_id, scope_.kind))},
            kAsksKind | kAsksOwner, true);
    } else if (!scope_.kind.empty()) {
      Offer({Equal(trees_.by_kind, KindProbe{scope_.kind})}, kAsksKind, true);
    } else {
      Offer({All(trees_.by_age)}, 0, true);
    }
    if (!scope_.ref_target_id.empty()) {
      Offer({Equal(trees_.by_target,
                   SourceProbe(scope_.ref_target_id, scope_.kind, scope_.ref_type))},
            kAsksKind | kAsksReference, true);
    }
  }

  // One range for each kind that the list is over and each of the marks that `mark_of` makes.
  template <typename Texts, typename MarkOf>
  void OfferMarks(const Texts& texts, const MarkOf& mark_of, unsigned covers) {
    std::vector<RangePtr> ranges;
    const auto add = [&](std::string_view kind) {
      for (const auto& text : texts) {
        ranges.push_back(Equal(trees_.by_mark, MarkProbe{mark_of(kind, text)}));
      }
    };
    if (!scope_.kind.empty()) {
      add(scope_.kind);
    } else {
      // Kinds are few: from one to the next.
      auto at = trees_.by_kind.begin();
      while (at != trees_.by_kind.end()) {
        const std::string& kind = *at->kind;
        add(kind);
        at = trees_.by_kind.UpperBound(KindProbe{kind});
      }
    }
    Offer(std::move(ranges), covers | kAsksKind, true);
  }

  // Every one and every two dimensions have a mark; with more, the rarest two are looked through.
  void ConsiderTenant() {
    const Tenancy& dims = scope_.tenant.dims();
    if (dims.empty()) {
      if (!scope_.tenant.is_all()) {
        Offer({std::make_shared<Named>(std::vector<const ResourceEntry*>{})}, ~0U, true);
      }
      return;
    }
    if (dims.size() == 1) {
      OfferMarks(std::vector<Tenancy>{dims}, TenancyMark, kAsksTenant);
      return;
    }
    for (auto one = dims.begin(); one != dims.end(); ++one) {
      for (auto two = std::next(one); two != dims.end(); ++two) {
        OfferMarks(std::vector<Tenancy>{{*one, *two}}, TenancyMark,
                   dims.size() == 2 ? kAsksTenant : 0U);
      }
    }
  }

  // `covers`: what is known of all that `node` finds.
  void Consider(const Node& node, unsigned covers) {
    if (node.kind == NodeKind::kTest) {
      ConsiderTest(node.test, covers);
    } else if (node.kind == NodeKind::kAnd) {
      for (const Node& child : node.children) {
        Consider(child, 0);
      }
      ConsiderOldConditions(node, node.children.size() == 2 ? covers : 0);
    } else if (node.kind == NodeKind::kOr) {
      ConsiderAny(node);
    }
  }

  // What any of several searches finds is in their ranges, if each of them has some.
  void ConsiderAny(const Node& any) {
    std::vector<RangePtr> ranges;
    for (const Node& child : any.children) {
      Finder one(image_, statuses_, scope_);
      one.Consider(child, 0);
      if (!one.has_best_) {
        return;
      }
      std::ranges::move(one.best_.ranges, std::back_inserter(ranges));
    }
    Offer({std::make_shared<AnyOf>(std::move(ranges))}, 0, false);
  }

  void ConsiderTest(const Test& test, unsigned covers) {
    if (test.op != Operator::kEq && test.op != Operator::kIn) {
      return;
    }
    std::set<std::string> texts;
    for (const search::Value& value : test.values) {
      if (const auto* text = std::get_if<std::string>(&value)) {
        texts.insert(*text);
      }
    }
    if (test.field.kind == FieldKind::kLabel) {
      OfferMarks(
          texts,
          [&test](std::string_view kind, std::string_view value) {
            return LabelMark(kind, test.field.name, value);
          },
          covers);
    } else if (test.field.kind == FieldKind::kConditionStatus) {
      ConsiderCondition(test.field.name, *texts.begin(), covers);
    } else if (test.field.kind == FieldKind::kColumn) {
      ConsiderColumn(test.field.column, texts, covers);
    }
  }

  void ConsiderColumn(ResourceColumn column, const std::set<std::string>& texts, unsigned covers) {
    if (column == ResourceColumn::kName) {
      OfferMarks(texts, NameMark, covers);
    } else if (column == ResourceColumn::kId) {
      std::vector<const ResourceEntry*> entries;
      for (const std::string& id : texts) {
        if (const ResourceEntry* entry = image_.Find(id)) {
          entries.push_back(entry);
        }
      }
      Offer({std::make_shared<Named>(std::move(entries))}, covers, false);
    } else if (column == ResourceColumn::kKind || column == ResourceColumn::kOwnerId) {
      std::vector<RangePtr> ranges;
      ranges.reserve(texts.size());
      for (const std::string& text : texts) {
        ranges.push_back(column == ResourceColumn::kKind ? Equal(trees_.by_kind, KindProbe{text})
                                                         : Equal(trees_.by_owner, IdProbe(text)));
      }
      Offer(std::move(ranges), covers, column == ResourceColumn::kKind);
    }
  }

  static schemas::ConditionStatus StatusOf(std::string_view text) {
    if (text == "True") {
      return schemas::ConditionStatus::kTrue;
    }
    return text == "False" ? schemas::ConditionStatus::kFalse : schemas::ConditionStatus::kUnknown;
  }

  void OfferCondition(ConditionRange range, unsigned covers) {
    Offer({std::make_shared<WithCondition>(image_, range)}, covers, false,
          (covers & kAsksSearch) != 0);
  }

  void ConsiderCondition(std::string_view type, std::string_view status, unsigned covers) {
    if (statuses_ != nullptr) {
      OfferCondition(statuses_->WithCondition(type, StatusOf(status)), covers);
    }
  }

  // A condition that has a status and has not been updated since some time: one range.
  void ConsiderOldConditions(const Node& all, unsigned covers) {
    for (const Node& a : all.children) {
      for (const Node& b : all.children) {
        if (statuses_ == nullptr || a.kind != NodeKind::kTest || b.kind != NodeKind::kTest ||
            a.test.field.kind != FieldKind::kConditionStatus || a.test.op != Operator::kEq ||
            b.test.field.kind != FieldKind::kConditionLastUpdated ||
            a.test.field.name != b.test.field.name ||
            (b.test.op != Operator::kLt && b.test.op != Operator::kLe)) {
          continue;
        }
        engine::Timestamp before = std::get<engine::Timestamp>(b.test.values.front());
        before.micros += b.test.op == Operator::kLe ? 1 : 0;
        const auto status = StatusOf(std::get<std::string>(a.test.values.front()));
        OfferCondition(statuses_->WithCondition(a.test.field.name, status, before), covers);
      }
    }
  }

  const ResourcesImage& image_;
  const ResourceTrees<ImageTree>& trees_;
  const StatusesImage* statuses_;
  const ListScope& scope_;
  Candidates best_;
  bool has_best_ = false;
};

}  // namespace

unsigned AskedBy(const ListScope& scope, const ListOptions& options) {
  return (scope.kind.empty() ? 0U : kAsksKind) | (scope.owner_id.empty() ? 0U : kAsksOwner) |
         (scope.ref_target_id.empty() ? 0U : kAsksReference) |
         (scope.tenant.is_all() ? 0U : kAsksTenant) |
         (options.search == nullptr ? 0U : kAsksSearch);
}

std::size_t Candidates::size() const {
  std::size_t size = 0;
  for (const auto& range : ranges) {
    size += range->size();
  }
  return size;
}

Candidates FindCandidates(const ResourcesImage& image, const StatusesImage* statuses,
                          const ListScope& scope, const ListOptions& options) {
  return Finder(image, statuses, scope).Find(options);
}

}  // namespace projections
