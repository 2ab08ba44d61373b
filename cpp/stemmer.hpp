// The Snowball "english" stemmer (Porter2) as METEOR 1.5 and snowballstemmer 1.2.1 to 2.2.0 have
// it. Later Snowball releases changed some words (added, emergence, *ologist), so the version is
// part of the contract.
#pragma once

#include <string>

namespace reelscore {

// Replaces the word, valid UTF-8 and already lower case, by its stem.
void stem(std::string& word);

}  // namespace reelscore
