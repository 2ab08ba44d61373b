#include "projective.hpp"

#include <limits>
#include <vector>

namespace reelscore {
namespace {

using std::int64_t;
using std::size_t;

// The best tree over the words from `left` to `right`, for each end as its head. In an open span
// the head is linked to the other end, which may still take words from outside.
struct Span {
    float open_left, open_right, closed_left, closed_right;
    size_t open_split, left_split, right_split;
};

class Chart {
  public:
    Chart(const float* scores, size_t words, size_t stride)
        : scores_(scores), words_(words), stride_(stride), spans_(words * words) {
        for (size_t i = 0; i < words; ++i) at(i, i) = Span{0, 0, 0, 0, i, i, i};
        for (size_t length = 1; length < words; ++length) {
            for (size_t left = 0; left + length < words; ++left) fill(left, left + length);
        }
    }

    void write_heads(int64_t* heads) {
        size_t root = 0;
        float best = -std::numeric_limits<float>::infinity();
        for (size_t word = 0; word < words_; ++word) {
            const float sum = scores_[word * stride_] + at(0, word).closed_left +
                              at(word, words_ - 1).closed_right;
            if (sum > best) {
                best = sum;
                root = word;
            }
        }
        heads[root] = 0;
        trace(0, root, /*head_left=*/false, /*open=*/false, heads);
        trace(root, words_ - 1, /*head_left=*/true, /*open=*/false, heads);
    }

  private:
    struct Part {
        size_t left, right;
        bool head_left, open;
    };

    Span& at(size_t left, size_t right) { return spans_[left * words_ + right]; }
    float score(size_t word, size_t head) const { return scores_[word * stride_ + head + 1]; }

    void fill(size_t left, size_t right) {
        constexpr float kLowest = -std::numeric_limits<float>::infinity();
        Span span{kLowest, kLowest, kLowest, kLowest, left, left, right};
        float joined = kLowest;
        for (size_t k = left; k < right; ++k) {
            const float sum = at(left, k).closed_right + at(k + 1, right).closed_left;
            if (sum > joined) {
                joined = sum;
                span.open_split = k;
            }
        }
        span.open_right = joined + score(right, left);
        span.open_left = joined + score(left, right);
        at(left, right) = span;
        for (size_t k = left; k < right; ++k) {
            const float sum = at(left, k).closed_left + at(k, right).open_left;
            if (sum > span.closed_left) {
                span.closed_left = sum;
                span.left_split = k;
            }
        }
        for (size_t k = left + 1; k <= right; ++k) {
            const float sum = at(left, k).open_right + at(k, right).closed_right;
            if (sum > span.closed_right) {
                span.closed_right = sum;
                span.right_split = k;
            }
        }
        at(left, right) = span;
    }

    // Follows the choices from a span down to its words, with a stack: captions may be long.
    void trace(size_t first, size_t last, bool first_head_left, bool first_open, int64_t* heads) {
        std::vector<Part> parts{{first, last, first_head_left, first_open}};
        while (!parts.empty()) {
            const auto [left, right, head_left, open] = parts.back();
            parts.pop_back();
            if (left == right) continue;
            const Span& span = at(left, right);
            if (open) {
                heads[head_left ? right : left] =
                    static_cast<int64_t>(head_left ? left : right) + 1;
                parts.push_back({left, span.open_split, true, false});
                parts.push_back({span.open_split + 1, right, false, false});
            } else if (head_left) {
                parts.push_back({left, span.right_split, true, true});
                parts.push_back({span.right_split, right, true, false});
            } else {
                parts.push_back({left, span.left_split, false, false});
                parts.push_back({span.left_split, right, false, true});
            }
        }
    }

    const float* scores_;
    size_t words_, stride_;
    std::vector<Span> spans_;
};

}  // namespace

void projective_heads(const float* scores, size_t words, size_t stride, int64_t* heads) {
    if (words > 0) Chart(scores, words, stride).write_heads(heads);
}

}  // namespace reelscore
