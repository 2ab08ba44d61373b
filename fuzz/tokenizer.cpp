// The PTB tokenizer on any captions: no fault, and the thread count and the neighbours never show.
// Lines that are tokenized once for many files give what each file as a whole gives.
#include "../cpp/ptb.hpp"
#include "input.hpp"

using namespace reelscore;

namespace {

// A file of some lines, which may come again and in any order, as the coco mode gives it.
void check_file(const Strings& lines, const Strings& alone, const std::vector<std::uint8_t>& closed,
                const std::vector<std::size_t>& file) {
    Strings captions;
    std::vector<std::uint8_t> known;
    for (const std::size_t k : file) {
        captions.push_back(lines.view()[k]);
        known.push_back(closed[k]);
    }
    const Strings whole = ptb_tokenize(captions.view(), PtbMode::coco, false, 1);
    const OpenLines open = ptb_tokenize_open(captions.view(), known.data(), 1);
    const OpenLines threaded = ptb_tokenize_open(captions.view(), known.data(), 2);
    fuzz::require(open.numbers == threaded.numbers);
    fuzz::require(open.tokens.bytes == threaded.tokens.bytes);
    fuzz::require(open.tokens.offsets == threaded.tokens.offsets);
    fuzz::require(open.numbers.size() == open.tokens.size());
    std::size_t next = 0;
    for (std::size_t k = 0; k < file.size(); ++k) {
        const bool is_open =
            next < open.numbers.size() && open.numbers[next] == static_cast<std::int64_t>(k);
        fuzz::require(whole.view()[k] ==
                      (is_open ? open.tokens.view()[next] : alone.view()[file[k]]));
        next += is_open;
    }
    fuzz::require(next == open.numbers.size());
}

void check_lines(Strings lines) {
    const std::size_t blank = lines.size();
    lines.push_back("");
    std::vector<std::uint8_t> closed(lines.size(), 2), again(lines.size(), 2);
    const Strings alone = ptb_tokenize_lines(lines.view(), 1, closed.data());
    const Strings plain = ptb_tokenize(lines.view(), PtbMode::separate, false, 1);
    fuzz::require(alone.bytes == plain.bytes && alone.offsets == plain.offsets);
    fuzz::require(alone.bytes == ptb_tokenize_lines(lines.view(), 2, again.data()).bytes);
    fuzz::require(closed == again);
    for (const std::uint8_t each : closed) fuzz::require(each < 2);

    std::vector<std::size_t> forwards, backwards, twice;
    for (std::size_t k = 0; k < blank; ++k) {
        forwards.push_back(k);
        backwards.push_back(blank - 1 - k);
        twice.insert(twice.end(), {k, k});
    }
    // A thread takes 256 lines at a time: here the second line is the last of the first 256.
    std::vector<std::size_t> across(254, blank);
    across.insert(across.end(), forwards.begin(), forwards.end());
    for (const auto* file : {&forwards, &backwards, &twice, &across}) {
        check_file(lines, alone, closed, *file);
    }
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
    const Strings captions = fuzz::captions(data, size);
    for (const bool keep : {false, true}) {
        const Strings alone = ptb_tokenize(captions.view(), PtbMode::separate, keep, 1);
        fuzz::require(alone.size() == captions.size());
        fuzz::require(alone.bytes ==
                      ptb_tokenize(captions.view(), PtbMode::separate, keep, 2).bytes);
        Strings last;
        last.push_back(captions.view()[captions.size() - 1]);
        const Strings token = ptb_tokenize(last.view(), PtbMode::separate, keep, 1);
        fuzz::require(token.view()[0] == alone.view()[captions.size() - 1]);
        fuzz::require(ptb_tokenize(captions.view(), PtbMode::coco, keep, 1).bytes ==
                      ptb_tokenize(captions.view(), PtbMode::coco, keep, 2).bytes);
    }
    check_lines(captions);
    return 0;
}
