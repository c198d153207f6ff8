// Values that are found once for each key and then looked up, mostly the same one again and again.
#pragma once

#include <map>
#include <utility>

namespace gemm {

/// A std::map that looks first at the entry that was asked for last: a launch of 7 us has no time for a search. Not for
/// several threads at a time. References stay valid.
template <class Key, class Value>
class Remembered {
 public:
  template <class Make>
  const Value& get(const Key& key, Make make) {
    if (latest_ && latest_->first == key) return latest_->second;
    auto found = known_.find(key);
    if (found == known_.end()) found = known_.emplace(key, make()).first;
    latest_ = &*found;
    return found->second;
  }

 private:
  std::map<Key, Value> known_;
  const std::pair<const Key, Value>* latest_ = nullptr;
};

}  // namespace gemm
