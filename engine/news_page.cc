#include "engine/news_page.h"

#include <algorithm>
#include <utility>

#include "engine/base/guard.h"

namespace engine {

NewsPage::NewsPage(Cursors after, std::size_t page_bytes) : page_bytes_(page_bytes) {
  news_.after = std::move(after);
}

bool NewsPage::Add(Record row) {
  if (row.stream != stream_) {
    stream_ = row.stream;
    stream_bytes_ = 0;
  }
  stream_bytes_ += RowCost(row.key.size(), row.payload.size());
  if (stream_bytes_ > page_bytes_) {
    first_left_out_ = std::min(first_left_out_.value_or(row.tx), row.tx);
    return false;
  }
  news_.rows.push_back(std::move(row));
  return true;
}

News NewsPage::Finish() && {
  if (first_left_out_.has_value()) {
    news_.complete = false;
    std::erase_if(news_.rows, [cut = *first_left_out_](const Record& row) {
      return !GUARD("news.whole-transactions", row.tx < cut);
    });
  }
  return std::move(news_);
}

}  // namespace engine
