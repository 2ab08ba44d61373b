// The only file that knows Python. Each function takes flat arrays, lets other Python threads run
// while it works, and hands back arrays that own their memory. Arguments are checked by the typed
// Python functions that call these (text/, metrics/), not here.

#include <nanobind/nanobind.h>
#include <nanobind/ndarray.h>
#include <nanobind/stl/array.h>
#include <nanobind/stl/optional.h>
#include <nanobind/stl/pair.h>
#include <nanobind/stl/string.h>
#include <nanobind/stl/string_view.h>
#include <nanobind/stl/tuple.h>
#include <nanobind/stl/vector.h>

#include <cmath>
#include <memory>
#include <mutex>
#include <optional>
#include <stdexcept>
#include <unordered_map>

#include "cider.hpp"
#include "draws.hpp"
#include "group_sums.hpp"
#include "inversions.hpp"
#include "language_index.hpp"
#include "language_index_builder.hpp"
#include "lcs.hpp"
#include "loops.hpp"
#include "meteor.hpp"
#include "meteor_texts.hpp"
#include "ngrams.hpp"
#include "precise_pow.hpp"
#include "projective.hpp"
#include "ptb.hpp"
#include "strings.hpp"
#include "temporal.hpp"
#include "words.hpp"

namespace nb = nanobind;
using namespace nb::literals;

namespace reelscore {
namespace {

template <typename T>
using ArrayIn = nb::ndarray<const T, nb::ndim<1>, nb::c_contig, nb::device::cpu>;
template <typename T>
using ArrayOut = nb::ndarray<nb::numpy, T, nb::ndim<1>>;
using MatrixOut = nb::ndarray<nb::numpy, double, nb::ndim<2>>;
using MatrixIn = nb::ndarray<const double, nb::ndim<2>, nb::c_contig, nb::device::cpu>;
using Bytes = ArrayIn<std::uint8_t>;
using Offsets = ArrayIn<std::int64_t>;
using Ids = ArrayIn<std::uint32_t>;
using PackedOut = std::pair<ArrayOut<std::uint8_t>, ArrayOut<std::int64_t>>;

// Python threads may number the words of their captions in one vocabulary.
struct SharedVocabulary : Vocabulary {
    std::mutex guard;
};

// A numpy array over a container's elements that keeps the container alive.
template <typename T, typename Container>
ArrayOut<T> array_of(Container&& container) {
    auto* owner = new std::decay_t<Container>(std::forward<Container>(container));
    nb::capsule keeper(owner,
                       [](void* p) noexcept { delete static_cast<std::decay_t<Container>*>(p); });
    return ArrayOut<T>(reinterpret_cast<T*>(owner->data()), {owner->size()}, keeper);
}

MatrixOut matrix_of(std::vector<double>&& values, std::size_t rows, std::size_t columns) {
    auto* owner = new std::vector<double>(std::move(values));
    nb::capsule keeper(owner,
                       [](void* p) noexcept { delete static_cast<std::vector<double>*>(p); });
    return MatrixOut(owner->data(), {rows, columns}, keeper);
}

PackedOut packed_of(Strings&& strings) {
    return {array_of<std::uint8_t>(std::move(strings.bytes)),
            array_of<std::int64_t>(std::move(strings.offsets))};
}

StringsView strings_view(const Bytes& bytes, const Offsets& offsets) {
    return {reinterpret_cast<const char*>(bytes.data()), offsets.data(), offsets.size() - 1};
}

WordsView words_view(const Ids& ids, const Offsets& offsets) {
    return {ids.data(), offsets.data(), offsets.size() - 1};
}

std::string_view utf8_of(nb::handle text) {
    Py_ssize_t size = 0;
    const char* bytes = PyUnicode_AsUTF8AndSize(text.ptr(), &size);
    if (bytes == nullptr) throw nb::python_error();
    return {bytes, static_cast<std::size_t>(size)};
}

PackedOut pack(nb::list texts) {
    Strings strings;
    std::size_t bytes = 0;
    for (nb::handle text : texts) bytes += utf8_of(text).size();
    strings.bytes.reserve(bytes);  // to grow by copies would take more time and memory
    strings.offsets.reserve(texts.size() + 1);
    for (nb::handle text : texts) strings.push_back(utf8_of(text));
    return packed_of(std::move(strings));
}

nb::list unpack(const Bytes& bytes, const Offsets& offsets) {
    const StringsView view = strings_view(bytes, offsets);
    nb::list texts;
    for (std::size_t k = 0; k < view.size; ++k) {
        texts.append(nb::str(view[k].data(), view[k].size()));
    }
    return texts;
}

// Runs a kernel that fills rows x columns numbers, with the interpreter's lock released.
template <typename Kernel>
MatrixOut rows_of(std::size_t rows, std::size_t columns, Kernel&& kernel) {
    std::vector<double> values(rows * columns);
    {
        nb::gil_scoped_release release;
        kernel(values.data());
    }
    return matrix_of(std::move(values), rows, columns);
}

// A language index together with the mapped file it looks at, and the texts analysed with it.
struct OpenIndex {
    Bytes content;
    std::unique_ptr<MeteorMemory> memory;
};

std::optional<OpenIndex> open_index(Bytes content) {
    const auto* bytes = reinterpret_cast<const std::byte*>(content.data());
    try {
        LanguageIndex index(bytes, content.size());
        if (!intact(bytes, content.size())) return std::nullopt;
        return OpenIndex{std::move(content), std::make_unique<MeteorMemory>(index)};
    } catch (const std::invalid_argument&) {
        return std::nullopt;
    }
}

// Words and their stems, packed.
using PackedStems = std::optional<std::tuple<Bytes, Offsets, Bytes, Offsets>>;

std::optional<StemTable> stem_table(const PackedStems& packed) {
    if (!packed) return std::nullopt;
    const auto& [words, word_offsets, stems, stem_offsets] = *packed;
    const StringsView spelled = strings_view(words, word_offsets);
    const StringsView stemmed = strings_view(stems, stem_offsets);
    if (spelled.size != stemmed.size) throw std::invalid_argument("a word without a stem");
    StemTable table;
    for (std::size_t k = 0; k < spelled.size; ++k) {
        table.emplace(std::string(spelled[k]), std::string(stemmed[k]));
    }
    return table;
}

MeteorParameters meteor_parameters(const std::array<double, 4>& values,
                                   const std::optional<StemTable>& stems = std::nullopt) {
    MeteorParameters parameters;
    if (stems) {
        parameters.weights = {1.0, 0.5, 0.0, 0.0};
        parameters.modules = {true, true, false, false};
        parameters.normalize = false;
        parameters.stems = &*stems;
    }
    parameters.alpha = values[0];
    parameters.beta = values[1];
    parameters.gamma = values[2];
    parameters.delta = values[3];
    return parameters;
}

std::string_view text_of(nb::bytes bytes) {
    return {bytes.c_str(), bytes.size()};
}

}  // namespace

NB_MODULE(_native, m) {
    // Word lists are cached for the life of the process: at its end that is no leak to report.
    nb::set_leak_warnings(false);

    m.doc() = "The C++ kernels; use the typed functions of reelscore.text and reelscore.metrics.";

    m.def("pack", &pack, "texts"_a);
    m.def("unpack", &unpack, "bytes"_a, "offsets"_a);
    m.def(
        "take",
        [](Bytes bytes, Offsets offsets, Offsets numbers) {
            const StringsView texts = strings_view(bytes, offsets);
            Strings taken;
            std::size_t size = 0;
            for (std::size_t k = 0; k < numbers.size(); ++k) {
                const auto number = static_cast<std::size_t>(numbers(k));
                if (number >= texts.size) throw nb::index_error("no such text");
                size += texts[number].size();
            }
            taken.bytes.reserve(size);
            taken.offsets.reserve(numbers.size() + 1);
            for (std::size_t k = 0; k < numbers.size(); ++k) {
                taken.push_back(texts[static_cast<std::size_t>(numbers(k))]);
            }
            return packed_of(std::move(taken));
        },
        "bytes"_a, "offsets"_a, "numbers"_a);

    m.def(
        "ptb_tokenize",
        [](Bytes bytes, Offsets offsets, bool coco, bool keep_punctuation, std::size_t threads) {
            Strings tokens;
            {
                nb::gil_scoped_release release;
                tokens = ptb_tokenize(strings_view(bytes, offsets),
                                      coco ? PtbMode::coco : PtbMode::separate, keep_punctuation,
                                      threads);
            }
            return packed_of(std::move(tokens));
        },
        "bytes"_a, "offsets"_a, "coco"_a, "keep_punctuation"_a, "threads"_a);

    m.def(
        "ptb_tokenize_lines",
        [](Bytes bytes, Offsets offsets, std::size_t threads) {
            const StringsView captions = strings_view(bytes, offsets);
            std::vector<std::uint8_t> closed(captions.size);
            Strings tokens;
            {
                nb::gil_scoped_release release;
                tokens = ptb_tokenize_lines(captions, threads, closed.data());
            }
            return std::pair(packed_of(std::move(tokens)),
                             array_of<std::uint8_t>(std::move(closed)));
        },
        "bytes"_a, "offsets"_a, "threads"_a);
    m.def(
        "ptb_tokenize_open",
        [](Bytes bytes, Offsets offsets, Bytes closed, std::size_t threads) {
            OpenLines lines;
            {
                nb::gil_scoped_release release;
                lines = ptb_tokenize_open(strings_view(bytes, offsets), closed.data(), threads);
            }
            return std::pair(array_of<std::int64_t>(std::move(lines.numbers)),
                             packed_of(std::move(lines.tokens)));
        },
        "bytes"_a, "offsets"_a, "closed"_a, "threads"_a);

    m.def(
        "string_hashes",
        [](Bytes bytes, Offsets offsets) {
            const StringsView strings = strings_view(bytes, offsets);
            std::vector<std::uint64_t> hashes(strings.size);
            {
                nb::gil_scoped_release release;
                string_hashes(strings, hashes.data());
            }
            return array_of<std::uint64_t>(std::move(hashes));
        },
        "bytes"_a, "offsets"_a);
    m.def(
        "poisson_draws",
        [](ArrayIn<std::uint64_t> items, std::uint64_t seed, std::size_t first, std::size_t draws) {
            std::vector<std::uint8_t> counts(items.size() * draws);
            {
                nb::gil_scoped_release release;
                poisson_draws(items.data(), items.size(), seed, first, draws, counts.data());
            }
            return array_of<std::uint8_t>(std::move(counts));
        },
        "items"_a, "seed"_a, "first"_a, "draws"_a);

    nb::class_<SharedVocabulary>(m, "Vocabulary")
        .def(nb::init<>())
        .def("words", [](const SharedVocabulary& self) { return packed_of(Strings(self.words())); })
        .def("__len__", [](const SharedVocabulary& self) { return self.size(); })
        .def(
            "word",
            [](const SharedVocabulary& self, std::size_t id) {
                if (id >= self.size()) throw nb::index_error("no such word");
                return self.word(id);
            },
            "id"_a)
        .def(
            "number",
            [](SharedVocabulary& self, Bytes bytes, Offsets offsets) {
                const StringsView texts = strings_view(bytes, offsets);
                const std::lock_guard<std::mutex> lock(self.guard);
                std::vector<std::int64_t> numbers(texts.size);
                for (std::size_t k = 0; k < texts.size; ++k) numbers[k] = self.id(texts[k]);
                return array_of<std::int64_t>(std::move(numbers));
            },
            "bytes"_a, "offsets"_a);
    m.def(
        "word_ids",
        [](Bytes bytes, Offsets offsets, bool at_blanks, SharedVocabulary& vocabulary) {
            Words words;
            {
                nb::gil_scoped_release release;
                const std::lock_guard<std::mutex> lock(vocabulary.guard);
                words = word_ids(strings_view(bytes, offsets),
                                 at_blanks ? Split::blank : Split::whitespace, vocabulary);
            }
            return std::pair(array_of<std::uint32_t>(std::move(words.ids)),
                             array_of<std::int64_t>(std::move(words.offsets)));
        },
        "bytes"_a, "offsets"_a, "at_blanks"_a, "vocabulary"_a);
    m.def(
        "plainly_spaced",
        [](Bytes bytes, Offsets offsets) { return plainly_spaced(strings_view(bytes, offsets)); },
        "bytes"_a, "offsets"_a);

    nb::class_<PairIds>(m, "PairIds")
        .def(nb::init<>())
        .def("__len__", [](const PairIds& self) { return self.size(); })
        .def(
            "number",
            [](PairIds& self, Offsets firsts, Offsets seconds) {
                std::vector<std::int64_t> numbers(firsts.size());
                for (std::size_t k = 0; k < numbers.size(); ++k) {
                    numbers[k] = self.id(static_cast<std::uint32_t>(firsts.data()[k]),
                                         static_cast<std::uint32_t>(seconds.data()[k]));
                }
                return array_of<std::int64_t>(std::move(numbers));
            },
            "firsts"_a, "seconds"_a)
        .def(
            "pairs",
            [](const PairIds& self, std::size_t begin) {
                auto [firsts, seconds] = self.pairs<std::int64_t>(begin);
                return std::make_pair(array_of<std::int64_t>(std::move(firsts)),
                                      array_of<std::int64_t>(std::move(seconds)));
            },
            "begin"_a);

    m.def(
        "group_sums",
        [](MatrixIn rows, Offsets numbers, Offsets group_offsets) {
            const std::size_t groups = group_offsets.size() - 1, columns = rows.shape(1);
            return rows_of(groups, columns, [&](double* out) {
                group_sums(rows.data(), columns, numbers.data(), group_offsets.data(), groups, out);
            });
        },
        "rows"_a, "numbers"_a, "group_offsets"_a);

    m.def(
        "bleu_statistics",
        [](Ids candidates, Offsets candidate_offsets, Ids references, Offsets word_offsets,
           Offsets items, Offsets reference_offsets, std::size_t order, std::size_t threads) {
            const WordsView view = words_view(candidates, candidate_offsets);
            return rows_of(view.size, 2 * order + 2, [&](double* out) {
                bleu_statistics(view, words_view(references, word_offsets),
                                {items.data(), reference_offsets.data()}, order, threads, out);
            });
        },
        "candidates"_a, "candidate_offsets"_a, "references"_a, "word_offsets"_a, "items"_a,
        "reference_offsets"_a, "order"_a, "threads"_a);
    m.def(
        "self_bleu_statistics",
        [](Ids captions, Offsets caption_offsets, Offsets group_offsets, std::size_t order,
           std::size_t threads) {
            const WordsView view = words_view(captions, caption_offsets);
            return rows_of(view.size, 2 * order + 2, [&](double* out) {
                self_bleu_statistics(view, group_offsets.data(), group_offsets.size() - 1, order,
                                     threads, out);
            });
        },
        "captions"_a, "caption_offsets"_a, "group_offsets"_a, "order"_a, "threads"_a);
    m.def(
        "rouge_l_statistics",
        [](Ids candidates, Offsets candidate_offsets, Ids references, Offsets word_offsets,
           Offsets items, Offsets reference_offsets, std::size_t threads) {
            const WordsView view = words_view(candidates, candidate_offsets);
            return rows_of(view.size, 2, [&](double* out) {
                rouge_l_statistics(view, words_view(references, word_offsets),
                                   {items.data(), reference_offsets.data()}, threads, out);
            });
        },
        "candidates"_a, "candidate_offsets"_a, "references"_a, "word_offsets"_a, "items"_a,
        "reference_offsets"_a, "threads"_a);

    nb::class_<DocumentFrequencies>(m, "DocumentFrequencies")
        .def(nb::init<std::size_t>(), "order"_a)
        .def("__len__", &DocumentFrequencies::size)
        .def_prop_ro("order", &DocumentFrequencies::order)
        .def(
            "add_ngrams",
            [](DocumentFrequencies& self, Ids captions, Offsets word_offsets) {
                nb::gil_scoped_release release;
                self.add(words_view(captions, word_offsets));
            },
            "captions"_a, "word_offsets"_a)
        .def(
            "count",
            [](DocumentFrequencies& self, Ids references, Offsets word_offsets,
               Offsets reference_offsets) {
                nb::gil_scoped_release release;
                self.count(words_view(references, word_offsets), reference_offsets.data(),
                           reference_offsets.size() - 1);
            },
            "references"_a, "word_offsets"_a, "reference_offsets"_a)
        .def(
            "count_repeated",
            [](DocumentFrequencies& self, Ids references, Offsets word_offsets,
               Offsets reference_offsets, double log_documents) {
                const WordsView view = words_view(references, word_offsets);
                return rows_of(view.size, self.order(), [&](double* out) {
                    self.count_repeated(view, reference_offsets.data(),
                                        reference_offsets.size() - 1, log_documents, out);
                });
            },
            "references"_a, "word_offsets"_a, "reference_offsets"_a, "log_documents"_a)
        .def(
            "set",
            [](DocumentFrequencies& self, Ids ngrams, Offsets ngram_offsets,
               ArrayIn<double> frequencies) {
                const WordsView view = words_view(ngrams, ngram_offsets);
                for (std::size_t k = 0; k < view.size; ++k) self.set(view[k], frequencies(k));
            },
            "ngrams"_a, "ngram_offsets"_a, "frequencies"_a)
        .def("entries",
             [](const DocumentFrequencies& self) {
                 DocumentFrequencies::Entries entries;
                 {
                     nb::gil_scoped_release release;
                     entries = self.entries();
                 }
                 return std::tuple(array_of<std::uint32_t>(std::move(entries.prefixes)),
                                   array_of<std::uint32_t>(std::move(entries.words)),
                                   array_of<double>(std::move(entries.frequencies)));
             })
        .def(
            "add",
            [](DocumentFrequencies& self, Ids prefixes, Ids words, ArrayIn<double> frequencies) {
                nb::gil_scoped_release release;
                self.add(prefixes.data(), words.data(), frequencies.data(), words.size());
            },
            "prefixes"_a, "words"_a, "frequencies"_a);
    m.def(
        "cider_norms",
        [](Ids captions, Offsets word_offsets, const DocumentFrequencies& frequencies,
           double log_documents, std::size_t threads) {
            const WordsView view = words_view(captions, word_offsets);
            return rows_of(view.size, frequencies.order(), [&](double* out) {
                cider_norms(view, frequencies, log_documents, threads, out);
            });
        },
        "captions"_a, "word_offsets"_a, "frequencies"_a, "log_documents"_a, "threads"_a);
    m.def(
        "cider_statistics",
        [](Ids candidates, Offsets candidate_offsets, Ids references, Offsets word_offsets,
           MatrixIn reference_norms, Offsets items, Offsets reference_offsets,
           const DocumentFrequencies& frequencies, double log_documents, double sigma, bool clip,
           std::size_t threads) {
            const WordsView view = words_view(candidates, candidate_offsets);
            return rows_of(view.size, frequencies.order(), [&](double* out) {
                cider_statistics(view, words_view(references, word_offsets), reference_norms.data(),
                                 {items.data(), reference_offsets.data()}, frequencies,
                                 {sigma, clip, log_documents}, threads, out);
            });
        },
        "candidates"_a, "candidate_offsets"_a, "references"_a, "word_offsets"_a,
        "reference_norms"_a, "items"_a, "reference_offsets"_a, "frequencies"_a, "log_documents"_a,
        "sigma"_a, "clip"_a, "threads"_a);

    m.def(
        "cider_group_sums",
        [](Ids texts, Offsets word_offsets, Offsets candidates, Offsets references,
           Offsets group_offsets, std::size_t order, double sigma, bool clip, std::size_t threads) {
            const std::size_t groups = group_offsets.size() - 1;
            return rows_of(groups, order, [&](double* out) {
                cider_group_sums(words_view(texts, word_offsets), candidates.data(),
                                 references.data(), group_offsets.data(), groups, order,
                                 {sigma, clip, 0.0}, threads, out);
            });
        },
        "texts"_a, "word_offsets"_a, "candidates"_a, "references"_a, "group_offsets"_a, "order"_a,
        "sigma"_a, "clip"_a, "threads"_a);

    nb::class_<OpenIndex>(m, "LanguageIndex")
        .def_static("open", &open_index, "content"_a)
        .def_prop_ro("kept_texts", [](const OpenIndex& self) { return self.memory->size(); })
        .def(
            "synsets",
            [](const OpenIndex& self, std::string_view word) {
                return synsets_of(self.memory->index(), word);
            },
            "word"_a);
    nb::class_<LanguageIndexBuilder>(m, "LanguageIndexBuilder")
        .def(nb::init<>())
        .def(
            "add_function_words",
            [](LanguageIndexBuilder& self, nb::bytes text) {
                self.add_function_words(text_of(text));
            },
            "text"_a)
        .def(
            "add_prefixes",
            [](LanguageIndexBuilder& self, nb::bytes text) { self.add_prefixes(text_of(text)); },
            "text"_a)
        .def(
            "add_exceptions",
            [](LanguageIndexBuilder& self, nb::bytes text) { self.add_exceptions(text_of(text)); },
            "text"_a)
        .def(
            "add_synsets",
            [](LanguageIndexBuilder& self, nb::bytes text) { self.add_synsets(text_of(text)); },
            "text"_a)
        .def(
            "add_paraphrases",
            [](LanguageIndexBuilder& self, nb::bytes chunk) {
                const std::string_view text = text_of(chunk);
                nb::gil_scoped_release release;
                self.add_paraphrases(text);
            },
            "chunk"_a)
        .def("finish", [](LanguageIndexBuilder& self) {
            std::string blob;
            {
                nb::gil_scoped_release release;
                blob = self.finish();
            }
            return array_of<std::uint8_t>(std::move(blob));
        });
    m.def(
        "meteor_statistics",
        [](const OpenIndex& language, Bytes candidates, Offsets candidate_offsets, Bytes references,
           Offsets text_offsets, Offsets reference_offsets, std::array<double, 4> parameters,
           std::size_t threads, PackedStems stems) {
            const StringsView view = strings_view(candidates, candidate_offsets);
            const std::optional<StemTable> table = stem_table(stems);
            return rows_of(view.size, kMeteorStatistics, [&](double* out) {
                meteor_statistics(*language.memory, view, strings_view(references, text_offsets),
                                  reference_offsets.data(), view.size,
                                  meteor_parameters(parameters, table), threads, out);
            });
        },
        "language"_a, "candidates"_a, "candidate_offsets"_a, "references"_a, "text_offsets"_a,
        "reference_offsets"_a, "parameters"_a, "threads"_a, "stems"_a = nb::none());
    m.def(
        "meteor_pairs",
        [](const OpenIndex& language, Bytes candidates, Offsets candidate_offsets, Bytes references,
           Offsets text_offsets, Offsets candidate_numbers, Offsets reference_numbers,
           std::array<double, 4> parameters, std::size_t threads) {
            const std::size_t pairs = candidate_numbers.size();
            std::vector<double> scores(pairs);
            {
                nb::gil_scoped_release release;
                meteor_pairs(*language.memory, strings_view(candidates, candidate_offsets),
                             strings_view(references, text_offsets), candidate_numbers.data(),
                             reference_numbers.data(), pairs, meteor_parameters(parameters),
                             threads, nullptr, scores.data());
            }
            return array_of<double>(std::move(scores));
        },
        "language"_a, "candidates"_a, "candidate_offsets"_a, "references"_a, "text_offsets"_a,
        "candidate_numbers"_a, "reference_numbers"_a, "parameters"_a, "threads"_a);
    m.def(
        "meteor_best",
        [](const OpenIndex& language, Bytes candidates, Offsets candidate_offsets, Bytes references,
           Offsets text_offsets, Offsets reference_offsets, std::array<double, 4> parameters,
           std::size_t threads) {
            const std::size_t items = reference_offsets.size() - 1;
            std::vector<double> scores(items);
            std::vector<std::int64_t> best(items), aligned(items);
            {
                nb::gil_scoped_release release;
                meteor_best(language.memory->index(), strings_view(candidates, candidate_offsets),
                            strings_view(references, text_offsets), reference_offsets.data(), items,
                            meteor_parameters(parameters), threads, best.data(), scores.data(),
                            aligned.data());
            }
            return std::tuple(array_of<std::int64_t>(std::move(best)),
                              array_of<double>(std::move(scores)),
                              array_of<std::int64_t>(std::move(aligned)));
        },
        "language"_a, "candidates"_a, "candidate_offsets"_a, "references"_a, "text_offsets"_a,
        "reference_offsets"_a, "parameters"_a, "threads"_a);
    m.def(
        "meteor_alignment",
        [](const OpenIndex& language, std::string_view candidate, std::string_view reference,
           std::array<double, 4> parameters, PackedStems stems) {
            const std::optional<StemTable> table = stem_table(stems);
            const MeteorAlignment found =
                meteor_alignment(language.memory->index(), candidate, reference,
                                 meteor_parameters(parameters, table));
            std::vector<std::tuple<int, int, int, int, int>> matches;
            for (const MeteorMatch& match : found.matches) {
                matches.emplace_back(match.candidate_start, match.candidate_length,
                                     match.reference_start, match.reference_length,
                                     static_cast<int>(match.module));
            }
            return std::tuple(found.candidate_words, found.reference_words, matches, found.score);
        },
        "language"_a, "candidate"_a, "reference"_a, "parameters"_a, "stems"_a = nb::none());
    m.def(
        "power",
        [](ArrayIn<double> base, double exponent) {
            std::vector<double> result(base.size());
            std::unordered_map<double, double> known;  // fractions of small numbers: few distinct
            for (std::size_t k = 0; k < result.size(); ++k) {
                const auto [place, is_new] = known.try_emplace(base(k));
                if (is_new) place->second = precise_pow(base(k), exponent);
                result[k] = place->second;
            }
            return array_of<double>(std::move(result));
        },
        "base"_a, "exponent"_a);

    // Stories: segments and sums are flat arrays of pairs of numbers.
    m.def(
        "segment_iou",
        [](ArrayIn<double> candidates, Offsets candidate_offsets, ArrayIn<double> references,
           Offsets reference_offsets, double epsilon, std::size_t threads) {
            const StoryPairs pairs{candidate_offsets.data(), reference_offsets.data(),
                                   candidate_offsets.size() - 1};
            std::vector<double> values(pairs.cell_offsets().back());
            {
                nb::gil_scoped_release release;
                segment_iou(candidates.data(), references.data(), pairs, epsilon, threads,
                            values.data());
            }
            return array_of<double>(std::move(values));
        },
        "candidates"_a, "candidate_offsets"_a, "references"_a, "reference_offsets"_a, "epsilon"_a,
        "threads"_a);
    m.def(
        "match_sums",
        [](ArrayIn<double> costs, ArrayIn<double> bonuses, Offsets candidate_offsets,
           Offsets reference_offsets, ArrayIn<double> sums, std::size_t threads) {
            const StoryPairs pairs{candidate_offsets.data(), reference_offsets.data(),
                                   candidate_offsets.size() - 1};
            std::vector<MatchSum> matched(sums.size() / 2);
            for (std::size_t k = 0; k < matched.size(); ++k) {
                matched[k] = {sums(2 * k), sums(2 * k + 1)};
            }
            {
                nb::gil_scoped_release release;
                match_sums(costs.data(), bonuses.data(), pairs, threads, matched.data());
            }
            std::vector<double> flat;
            for (const MatchSum& sum : matched) flat.insert(flat.end(), {sum.cost, sum.bonus});
            return array_of<double>(std::move(flat));
        },
        "costs"_a, "bonuses"_a, "candidate_offsets"_a, "reference_offsets"_a, "sums"_a,
        "threads"_a);
    m.def(
        "match_rows",
        [](ArrayIn<double> costs, ArrayIn<double> bonuses, std::size_t rows, std::size_t columns) {
            std::vector<std::int64_t> matched;
            {
                nb::gil_scoped_release release;
                matched = match_rows(costs.data(), bonuses.data(), rows, columns);
            }
            return array_of<std::int64_t>(std::move(matched));
        },
        "costs"_a, "bonuses"_a, "rows"_a, "columns"_a);
    m.def(
        "count_inversions",
        [](Offsets values) {
            std::vector<std::int64_t> copy(values.data(), values.data() + values.size());
            nb::gil_scoped_release release;
            return count_inversions(std::move(copy));
        },
        "values"_a);
    m.def(
        "loop_starts",
        [](nb::list texts) {
            std::vector<std::int64_t> starts;
            starts.reserve(texts.size());
            for (nb::handle text : texts) starts.push_back(loop_start(utf8_of(text)));
            return starts;
        },
        "texts"_a);
    m.def(
        "projective_heads",
        [](nb::ndarray<const float, nb::ndim<3>, nb::c_contig, nb::device::cpu> scores,
           Offsets lengths) {
            const std::size_t words = scores.shape(1), stride = scores.shape(2);
            if (lengths.size() != scores.shape(0) || stride != words + 1) {
                throw std::invalid_argument("scores must be sentences x words x (words + 1)");
            }
            std::vector<std::int64_t> heads(scores.shape(0) * words, -1);
            {
                nb::gil_scoped_release release;
                for (std::size_t i = 0; i < lengths.size(); ++i) {
                    const auto length = static_cast<std::size_t>(lengths(i));
                    if (length > words) throw std::invalid_argument("a length beyond the words");
                    projective_heads(scores.data() + i * words * stride, length, stride,
                                     heads.data() + i * words);
                }
            }
            return array_of<std::int64_t>(std::move(heads));
        },
        "scores"_a, "lengths"_a);
}

}  // namespace reelscore
