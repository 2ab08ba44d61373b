// The PTB tokenizer on any captions: no fault, and the thread count and the neighbours never show.
#include "../cpp/ptb.hpp"
#include "input.hpp"

using namespace reelscore;

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
    return 0;
}
