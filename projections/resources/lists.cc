#include "projections/resources/lists.h"

#include <algorithm>

#include "engine/base/check.h"
#include "engine/base/guard.h"
#include "engine/base/status_macros.h"

namespace projections {
namespace {

bool RefersTo(const ResourceEntry& entry, std::string_view type, std::string_view target_id) {
  if (entry.table().references() == nullptr) {
    return false;
  }
  return std::ranges::any_of(*entry.table().references(), [&](const schemas::Reference* reference) {
    return schemas::Text(reference->ref_type()) == type &&
           schemas::Text(reference->target_id()) == target_id;
  });
}

std::optional<search::Matcher> MatcherOf(const ListOptions& options, const ResourcesImage& image) {
  return options.search == nullptr
             ? std::nullopt
             : std::optional<search::Matcher>(std::in_place, *options.search, image.spec_paths());
}

Looks LooksOf(const std::optional<search::Matcher>& matcher) {
  using Reads = search::Matcher::Reads;
  if (!matcher || matcher->first() != Reads::kOutline) {
    return Looks::kAtRecords;
  }
  return matcher->last() == Reads::kSpec ? Looks::kAtSpecs : Looks::kAtOutlines;
}

}  // namespace

// Counts what is looked at, and asks now and then whether to go on.
class ListPlan::Look {
 public:
  explicit Look(const MayGoOn& may_go_on) : may_go_on_(may_go_on) {}

  // Before each resource. False: that was enough.
  bool Next() {
    if (may_go_on_ && looked_at_++ % kLookedAtBetween == 0) {
      status_ = may_go_on_();
    }
    return status_.ok();
  }
  const absl::Status& status() const { return status_; }

 private:
  const MayGoOn& may_go_on_;
  std::size_t looked_at_ = 0;
  absl::Status status_;
};

ListPlan::ListPlan(const ResourcesImage& image, const StatusesImage* statuses,
                   const ListScope& scope, const ListOptions& options)
    : statuses_(statuses),
      scope_(scope),
      options_(options),
      matcher_(MatcherOf(options, image)),
      looks_(LooksOf(matcher_)),
      candidates_(FindCandidates(image, statuses, scope_, options_)),
      is_exact_((AskedBy(scope_, options_) & ~candidates_.covers) == 0) {
  ENGINE_CHECK(options.page > 0);
  ENGINE_CHECK(options.size > 0);
  ENGINE_CHECK(scope.owner_id.empty() || !scope.kind.empty());
  ENGINE_CHECK(scope.ref_target_id.empty() || !scope.kind.empty());
}

bool ListPlan::IsInOrder() const {
  return candidates_.in_order && options_.order == DefaultOrder();
}

std::size_t ListPlan::cost() const {
  return is_exact_ && IsInOrder() ? options_.size : candidates_.size();
}

bool ListPlan::Fits(const ResourceEntry& entry) const {
  return GUARD("tenant.list", scope_.tenant.Sees(entry)) &&
         GUARD("lists.kind", scope_.kind.empty() || entry.kind() == scope_.kind) &&
         GUARD("lists.owner", scope_.owner_id.empty() || entry.owner_id() == scope_.owner_id) &&
         GUARD("lists.reference", scope_.ref_target_id.empty() ||
                                      RefersTo(entry, scope_.ref_type, scope_.ref_target_id)) &&
         (candidates_.is_found || !matcher_ || matcher_->Matches(entry, statuses_));
}

ListPage ListPlan::Run() const {
  return *RunWhile({});  // Without being asked it does not end.
}

absl::StatusOr<ListPage> ListPlan::RunWhile(const MayGoOn& may_go_on) const {
  Look look(may_go_on);
  if (IsInOrder() && is_exact_) {
    ListPage page = Cut();
    if (std::ranges::all_of(page.items, [this](const auto* entry) { return Fits(*entry); })) {
      return page;
    }
    // Two marks have one hash.
  }
  ListPage page = IsInOrder() ? Pick(look) : Sort(look);
  RETURN_IF_ERROR(look.status());
  return page;
}

// A page far behind the end must not overflow into one that is there.
std::size_t ListPlan::FirstOfPage(std::size_t total) const {
  const std::size_t before = options_.page - 1;
  return before > total / options_.size ? total : std::min(total, before * options_.size);
}

std::size_t ListPlan::CountBefore(const ListPlace& place) const {
  const CandidateRange& range = *candidates_.ranges.front();
  std::size_t low = 0;
  std::size_t high = range.size();
  while (low < high) {
    const std::size_t middle = low + (high - low) / 2;
    bool is_behind = false;
    range.Walk(middle, middle + 1, Looks::kAtRecords, [&](const ResourceEntry& entry) {
      is_behind = IsBehind(entry, place, options_.order);
      return true;
    });
    (is_behind ? high : low) = is_behind ? middle : middle + 1;
  }
  return low;
}

ListPage ListPlan::Cut() const {
  const CandidateRange& range = *candidates_.ranges.front();
  ListPage page;
  page.total = range.size();
  const std::size_t first = options_.after ? CountBefore(*options_.after) : FirstOfPage(page.total);
  const std::size_t last = first + std::min(options_.size, page.total - first);
  page.has_more = last < page.total;
  page.items.reserve(last - first);
  range.Walk(first, last, Looks::kAtSpecs, [&page](const ResourceEntry& entry) {
    page.items.push_back(&entry);
    return true;
  });
  return page;
}

ListPage ListPlan::Pick(Look& look) const {
  const CandidateRange& range = *candidates_.ranges.front();
  // In the default order what is behind a place is one piece of the range.
  const std::size_t behind = options_.after ? CountBefore(*options_.after) : 0;
  const std::size_t skipped = options_.after ? 0 : FirstOfPage(range.size());
  ListPage page;
  std::size_t seen = 0;  // Of those that fit and are behind.
  std::size_t at = 0;
  range.Walk(0, range.size(), looks_, [&](const ResourceEntry& entry) {
    const bool counts = at++ >= behind;
    if (!look.Next()) {
      return false;
    }
    if (!Fits(entry)) {
      return true;
    }
    ++page.total;
    if (counts && seen++ >= skipped && page.items.size() < options_.size) {
      page.items.push_back(&entry);
    }
    return true;
  });
  page.has_more = seen > skipped + page.items.size();
  return page;
}

ListPage ListPlan::Sort(Look& look) const {
  ListPage page;
  for (const auto& range : candidates_.ranges) {
    range->Walk(0, range->size(), looks_, [&](const ResourceEntry& entry) {
      if (look.Next() && Fits(entry)) {
        ++page.total;
        if (!options_.after || IsBehind(entry, *options_.after, options_.order)) {
          page.items.push_back(&entry);
        }
      }
      return look.status().ok();
    });
  }
  const std::size_t first = options_.after ? 0 : FirstOfPage(page.items.size());
  const std::size_t last = first + std::min(options_.size, page.items.size() - first);
  page.has_more = last < page.items.size();
  const auto before = [this](const ResourceEntry* a, const ResourceEntry* b) {
    return ComesBefore(*a, *b, options_.order);
  };
  const auto begin = page.items.begin();
  const auto at = [begin](std::size_t i) { return begin + static_cast<std::ptrdiff_t>(i); };
  if (first < page.items.size()) {
    std::nth_element(begin, at(first), page.items.end(), before);
  }
  std::partial_sort(at(first), at(last), page.items.end(), before);
  page.items = std::vector<const ResourceEntry*>(at(first), at(last));
  return page;
}

ListPage ResourcesImage::List(const ListScope& scope, const ListOptions& options) const {
  return ListPlan(*this, nullptr, scope, options).Run();
}

std::size_t ResourcesImage::Count(const ListScope& scope) const {
  return List(scope, {.page = 1, .size = 1}).total;
}

}  // namespace projections
