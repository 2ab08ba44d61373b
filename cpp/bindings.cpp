// The only file that knows Python. Each function takes captions, words and rows as the core holds
// them, or flat arrays, lets other Python threads run while it works, and hands back what owns its
// memory. Numpy is imported when an array is asked for, and not before: a run that prints a table
// never asks. Arguments are checked by the typed Python functions that call these (text/,
// metrics/), not here.

#include <nanobind/nanobind.h>
#include <nanobind/ndarray.h>
#include <nanobind/stl/array.h>
#include <nanobind/stl/optional.h>
#include <nanobind/stl/pair.h>
#include <nanobind/stl/string.h>
#include <nanobind/stl/string_view.h>
#include <nanobind/stl/tuple.h>
#include <nanobind/stl/vector.h>

#include <algorithm>
#include <cmath>
#include <memory>
#include <mutex>
#include <optional>
#include <stdexcept>

#include "cider.hpp"
#include "draws.hpp"
#include "group_sums.hpp"
#include "inversions.hpp"
#include "lcs.hpp"
#include "loops.hpp"
#include "meteor.hpp"
#include "meteor_index.hpp"
#include "meteor_index_builder.hpp"
#include "meteor_texts.hpp"
#include "ngrams.hpp"
#include "projective.hpp"
#include "ptb.hpp"
#include "scores.hpp"
#include "shared_arrays.hpp"
#include "strings.hpp"
#include "temporal.hpp"
#include "word_pieces.hpp"
#include "words.hpp"

namespace nb = nanobind;
using namespace nb::literals;

namespace reelscore {
namespace {

template <typename T>
using ArrayIn = nb::ndarray<const T, nb::ndim<1>, nb::c_contig, nb::device::cpu>;
template <typename T>
using ArrayOut = nb::ndarray<nb::numpy, T, nb::ndim<1>>;
template <typename T>
using Memory = nb::ndarray<nb::memview, const T, nb::ndim<1>>;
using MatrixIn = nb::ndarray<const double, nb::ndim<2>, nb::c_contig, nb::device::cpu>;
template <typename T>
using MatrixOut = nb::ndarray<nb::numpy, T, nb::ndim<2>>;
using Bytes = ArrayIn<std::uint8_t>;
using Offsets = ArrayIn<std::int64_t>;
using Ids = ArrayIn<std::uint32_t>;

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

// The elements of an array of Python's, shared.
template <typename T, typename Array>
SharedArray<T> shared_array(Array&& array) {
    const auto owner = std::make_shared<const std::decay_t<Array>>(std::forward<Array>(array));
    return {owner, reinterpret_cast<const T*>(owner->data()), owner->size()};
}

nb::capsule keeper_of(const std::shared_ptr<const void>& owner) {
    using Owner = std::shared_ptr<const void>;
    return nb::capsule(new Owner(owner), [](void* p) noexcept { delete static_cast<Owner*>(p); });
}

// Shared elements as an array: numpy's, or memory that all who read buffers can read.
template <typename Array, typename T>
Array array_over(const SharedArray<T>& elements) {
    return Array(reinterpret_cast<typename Array::Scalar*>(elements.data()), {elements.size()},
                 keeper_of(elements.owner()));
}

template <typename T>
nb::object matrix_over(const SharedRows& rows) {
    return nb::cast(MatrixOut<T>(const_cast<T*>(rows.values.data()), {rows.size, rows.columns},
                                 keeper_of(rows.values.owner())));
}

SharedRows shared_rows(MatrixIn matrix) {
    const std::size_t size = matrix.shape(0), columns = matrix.shape(1);
    return {shared_array<double>(std::move(matrix)), size, columns, false};
}

std::string_view utf8_of(nb::handle text) {
    Py_ssize_t size = 0;
    const char* bytes = PyUnicode_AsUTF8AndSize(text.ptr(), &size);
    if (bytes == nullptr) throw nb::python_error();
    return {bytes, static_cast<std::size_t>(size)};
}

SharedStrings pack(nb::list texts) {
    Strings strings;
    std::size_t bytes = 0;
    for (nb::handle text : texts) bytes += utf8_of(text).size();
    strings.bytes.reserve(bytes);  // to grow by copies would take more time and memory
    strings.offsets.reserve(texts.size() + 1);
    for (nb::handle text : texts) strings.push_back(utf8_of(text));
    return shared(std::move(strings));
}

nb::list unpack(const SharedStrings& strings) {
    const StringsView all = view(strings);
    nb::list texts;
    for (std::size_t k = 0; k < all.size; ++k) {
        texts.append(nb::str(all[k].data(), all[k].size()));
    }
    return texts;
}

// Runs a kernel that fills rows x columns numbers, with the interpreter's lock released.
template <typename Kernel>
SharedRows rows_of(std::size_t rows, std::size_t columns, Kernel&& kernel) {
    std::vector<double> values(rows * columns);
    {
        nb::gil_scoped_release release;
        kernel(values.data());
    }
    return SharedRows::of(std::move(values), rows, columns);
}

// The same for a kernel whose rows are asked for as an array.
template <typename Kernel>
nb::object matrix_of(std::size_t rows, std::size_t columns, Kernel&& kernel) {
    return matrix_over<double>(rows_of(rows, columns, std::forward<Kernel>(kernel)));
}

// Scores each row of sums by a formula that takes one row.
template <typename Formula>
SharedRows scores_of(const SharedRows& totals, std::size_t outputs, Formula&& formula) {
    return rows_of(totals.size, outputs, [&](double* out) {
        for (std::size_t k = 0; k < totals.size; ++k) {
            formula(totals.values.data() + k * totals.columns, out + k * outputs);
        }
    });
}

// Binds what lists of strings and lists of words have in common.
template <typename T>
void bind_lists(nb::class_<SharedLists<T>>& lists) {
    lists.def_prop_ro("size", &SharedLists<T>::size, "How many there are.")
        .def_prop_ro(
            "offsets",
            [](const SharedLists<T>& self) {
                return array_over<ArrayOut<const std::int64_t>>(self.offsets);
            },
            nb::rv_policy::automatic, "Where each begins, and the end of the last.")
        .def(
            "take",
            [](const SharedLists<T>& self, Offsets numbers) {
                return self.take(numbers.data(), numbers.size());
            },
            "numbers"_a, "Pick some by number, in the order given.")
        .def("slice", &SharedLists<T>::slice, "begin"_a, "end"_a,
             "Those from begin up to end, without copying them.");
}

// A METEOR index together with the mapped file it looks at, and the texts analysed with it.
struct OpenIndex {
    Bytes content;
    std::unique_ptr<MeteorMemory> memory;
};

std::optional<OpenIndex> open_index(Bytes content) {
    const auto* bytes = reinterpret_cast<const std::byte*>(content.data());
    try {
        MeteorIndex index(bytes, content.size());
        if (!intact(bytes, content.size())) return std::nullopt;
        return OpenIndex{std::move(content), std::make_unique<MeteorMemory>(index)};
    } catch (const std::invalid_argument&) {
        return std::nullopt;
    }
}

// Words and their stems.
using PackedStems = std::optional<std::pair<SharedStrings, SharedStrings>>;

std::optional<StemTable> stem_table(const PackedStems& packed) {
    if (!packed) return std::nullopt;
    const StringsView words = view(packed->first), stems = view(packed->second);
    if (words.size != stems.size) throw std::invalid_argument("a word without a stem");
    StemTable table;
    for (std::size_t k = 0; k < words.size; ++k) {
        table.emplace(std::string(words[k]), std::string(stems[k]));
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

    nb::class_<SharedStrings> packed(m, "Packed", R"(Many strings in two flat arrays.

String k is the UTF-8 text ``data[offsets[k]:offsets[k + 1]]``. A million captions packed cost
their bytes and eight million more; as Python strings they cost three times that, and could not be
read without holding the interpreter's lock.

Args:
    data: The bytes of all strings.
    offsets: Where each begins, and the end of the last.)");
    bind_lists(packed);
    packed
        .def(
            "__init__",
            [](SharedStrings* self, Bytes data, Offsets offsets) {
                new (self) SharedStrings{shared_array<char>(std::move(data)),
                                         shared_array<std::int64_t>(std::move(offsets))};
            },
            "data"_a, "offsets"_a)
        .def_prop_ro(
            "data",
            [](const SharedStrings& self) {
                return array_over<ArrayOut<const std::uint8_t>>(self.values);
            },
            nb::rv_policy::automatic, "The bytes of all strings.")
        .def("unpack", &unpack, "Give the strings back.")
        .def(
            "contains",
            [](const SharedStrings& self, std::string_view text) {
                const StringsView all = view(self);
                return all.all_bytes().find(text) != std::string_view::npos;
            },
            "text"_a, "Whether a text stands anywhere in the strings, written one after the other.")
        .def(
            "memory",
            [](const SharedStrings& self) {
                return std::pair(array_over<Memory<std::uint8_t>>(self.values),
                                 array_over<Memory<std::int64_t>>(self.offsets));
            },
            "Bytes and offsets as memory that all can read who read buffers.")
        .def("__reduce__", [](nb::handle self) {
            return std::pair(self.type(), nb::make_tuple(self.attr("data"), self.attr("offsets")));
        });
    m.def("pack", &pack, "texts"_a);

    nb::class_<SharedWords> words(m, "Words", R"(Captions as words, which are numbers.

Caption k consists of the words ``ids[offsets[k]:offsets[k + 1]]``.)");
    bind_lists(words);
    words.def_prop_ro(
        "ids",
        [](const SharedWords& self) {
            return array_over<ArrayOut<const std::uint32_t>>(self.values);
        },
        nb::rv_policy::automatic, "The words of all captions.");

    nb::class_<SharedRows>(m, "Rows", R"(A matrix of numbers as the core holds it, row by row.

``numpy.asarray`` shows it as an array, without copying it.

Args:
    matrix: An array of two dimensions.)")
        .def(
            "__init__",
            [](SharedRows* self, MatrixIn matrix) {
                new (self) SharedRows(shared_rows(std::move(matrix)));
            },
            "matrix"_a)
        .def_static(
            "joined",
            [](const std::vector<SharedRows>& parts) {
                if (parts.size() == 1) return parts[0];
                std::vector<double> values;
                std::size_t size = 0, numbers = 0;
                for (const SharedRows& part : parts) numbers += part.values.size();
                values.reserve(numbers);
                for (const SharedRows& part : parts) {
                    size += part.size;
                    values.insert(values.end(), part.values.data(),
                                  part.values.data() + part.values.size());
                }
                return SharedRows::of(std::move(values), size, parts.at(0).columns);
            },
            "parts"_a, "Put rows of equal length one after the other.")
        .def("__len__", [](const SharedRows& self) { return self.size; })
        .def(
            "__array__",
            [](const SharedRows& self, nb::object dtype, nb::object copy) {
                nb::object array =
                    self.is_own ? matrix_over<double>(self) : matrix_over<const double>(self);
                const bool is_own = !copy.is_none() && nb::cast<bool>(copy);
                if (dtype.is_none() && !is_own) return array;
                return array.attr("astype")(dtype.is_none() ? array.attr("dtype") : dtype);
            },
            "dtype"_a = nb::none(), "copy"_a = nb::none())
        .def(
            "tolist",
            [](const SharedRows& self) {
                std::vector<std::vector<double>> rows(self.size);
                for (std::size_t k = 0; k < self.size; ++k) {
                    const double* row = self.values.data() + k * self.columns;
                    rows[k].assign(row, row + self.columns);
                }
                return rows;
            },
            "Give the numbers of each row.")
        .def(
            "every",
            [](const SharedRows& self, std::size_t first, std::size_t step) {
                std::vector<double> values;
                values.reserve((self.size / step + 1) * self.columns);
                std::size_t size = 0;
                for (std::size_t k = first; k < self.size; k += step, ++size) {
                    const double* row = self.values.data() + k * self.columns;
                    values.insert(values.end(), row, row + self.columns);
                }
                return SharedRows::of(std::move(values), size, self.columns);
            },
            "first"_a, "step"_a, "Pick a row, and every one that is so many steps further on.")
        .def(
            "sums",
            [](const SharedRows& self) {
                return rows_of(1, self.columns, [&](double* out) {
                    column_sums(self.values.data(), self.columns, 0, self.size, out);
                });
            },
            "Sum each column, pairwise, so that a million rows lose no digits: one row.")
        .def(
            "column",
            [](const SharedRows& self, std::size_t column) {
                if (column >= self.columns) throw nb::index_error("no such column");
                std::vector<double> values(self.size);
                for (std::size_t k = 0; k < self.size; ++k) {
                    values[k] = self.values[k * self.columns + column];
                }
                return array_over<Memory<double>>(SharedArray<double>::of(std::move(values)));
            },
            "column"_a, "The numbers of one column, as memory that all can read who read buffers.")
        .def_prop_ro(
            "has_gaps",
            [](const SharedRows& self) {
                const double* begin = self.values.data();
                return std::any_of(begin, begin + self.values.size(),
                                   [](double value) { return std::isnan(value); });
            },
            "Whether some of the numbers are NaN.")
        .def("__reduce__", [](nb::handle self) {
            return std::pair(self.type(), nb::make_tuple(self.attr("__array__")()));
        });
    nb::implicitly_convertible<MatrixIn, SharedRows>();

    nb::class_<SharedPairing>(m, "Pairing", R"(Which references belong to which candidate.

Args:
    items: For each candidate, the number of its item.
    reference_offsets: Item i has the references from entry i up to entry i + 1.)")
        .def(
            "__init__",
            [](SharedPairing* self, Offsets items, Offsets reference_offsets) {
                new (self) SharedPairing{shared_array<std::int64_t>(std::move(items)),
                                         shared_array<std::int64_t>(std::move(reference_offsets))};
            },
            "items"_a, "reference_offsets"_a)
        .def_static(
            "in_order",
            [](Offsets reference_offsets, std::size_t times) {
                return SharedPairing::in_order(
                    shared_array<std::int64_t>(std::move(reference_offsets)), times);
            },
            "reference_offsets"_a, "times"_a = 1,
            "Pair the items in their order, each with so many candidates.")
        .def("__len__", [](const SharedPairing& self) { return self.items.size(); })
        .def_prop_ro(
            "items",
            [](const SharedPairing& self) {
                return array_over<ArrayOut<const std::int64_t>>(self.items);
            },
            nb::rv_policy::automatic, "For each candidate, the number of its item.")
        .def_prop_ro(
            "reference_offsets",
            [](const SharedPairing& self) {
                return array_over<ArrayOut<const std::int64_t>>(self.reference_offsets);
            },
            nb::rv_policy::automatic,
            "Where the references of each item begin, and the end of the last.")
        .def("slice", &SharedPairing::slice, "begin"_a, "end"_a,
             "Some of the candidates, with all references at hand.")
        .def(
            "references_in_order",
            [](const SharedPairing& self, const SharedStrings& references) {
                auto [own, offsets] = self.in_order(references);
                return std::pair(std::move(own), array_over<Memory<std::int64_t>>(offsets));
            },
            "references"_a,
            "The references such that candidate k has those from entry k to entry k + 1.");

    m.def(
        "ptb_tokenize",
        [](const SharedStrings& captions, bool coco, bool keep_punctuation, std::size_t threads) {
            nb::gil_scoped_release release;
            return shared(ptb_tokenize(view(captions), coco ? PtbMode::coco : PtbMode::separate,
                                       keep_punctuation, threads));
        },
        "captions"_a, "coco"_a, "keep_punctuation"_a, "threads"_a);

    m.def(
        "ptb_tokenize_lines",
        [](const SharedStrings& captions, std::size_t threads) {
            std::vector<std::uint8_t> closed(captions.size());
            Strings tokens;
            {
                nb::gil_scoped_release release;
                tokens = ptb_tokenize_lines(view(captions), threads, closed.data());
            }
            return std::pair(shared(std::move(tokens)), array_of<std::uint8_t>(std::move(closed)));
        },
        "captions"_a, "threads"_a);
    m.def(
        "ptb_tokenize_open",
        [](const SharedStrings& captions, Bytes closed, std::size_t threads) {
            OpenLines lines;
            {
                nb::gil_scoped_release release;
                lines = ptb_tokenize_open(view(captions), closed.data(), threads);
            }
            return std::pair(array_of<std::int64_t>(std::move(lines.numbers)),
                             shared(std::move(lines.tokens)));
        },
        "captions"_a, "closed"_a, "threads"_a);

    m.def(
        "string_hashes",
        [](const SharedStrings& strings) {
            std::vector<std::uint64_t> hashes(strings.size());
            {
                nb::gil_scoped_release release;
                string_hashes(view(strings), hashes.data());
            }
            return array_of<std::uint64_t>(std::move(hashes));
        },
        "strings"_a);
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
        .def("words", [](const SharedVocabulary& self) { return shared(Strings(self.words())); })
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
            [](SharedVocabulary& self, const SharedStrings& strings) {
                const StringsView texts = view(strings);
                const std::lock_guard<std::mutex> lock(self.guard);
                std::vector<std::int64_t> numbers(texts.size);
                for (std::size_t k = 0; k < texts.size; ++k) numbers[k] = self.id(texts[k]);
                return array_of<std::int64_t>(std::move(numbers));
            },
            "texts"_a);
    m.def(
        "word_ids",
        [](const SharedStrings& captions, bool at_blanks, SharedVocabulary& vocabulary) {
            nb::gil_scoped_release release;
            const std::lock_guard<std::mutex> lock(vocabulary.guard);
            return shared(
                word_ids(view(captions), at_blanks ? Split::blank : Split::whitespace, vocabulary));
        },
        "captions"_a, "at_blanks"_a, "vocabulary"_a);
    m.def(
        "plainly_spaced",
        [](const SharedStrings& captions) { return plainly_spaced(view(captions)); }, "captions"_a);

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
            return matrix_of(groups, columns, [&](double* out) {
                group_sums(rows.data(), columns, numbers.data(), group_offsets.data(), groups, out);
            });
        },
        "rows"_a, "numbers"_a, "group_offsets"_a);
    m.def(
        "mean_scores",
        [](const SharedRows& totals, double scale) {
            return scores_of(totals, 1, [&](const double* row, double* out) {
                *out = mean_score(row, totals.columns, scale);
            });
        },
        "totals"_a, "scale"_a = 1.0);

    m.def(
        "bleu_statistics",
        [](const SharedWords& candidates, const SharedWords& references,
           const SharedPairing& pairing, std::size_t order, std::size_t threads) {
            return rows_of(candidates.size(), 2 * order + 2, [&](double* out) {
                bleu_statistics(view(candidates), view(references), pairing.view(), order, threads,
                                out);
            });
        },
        "candidates"_a, "references"_a, "pairing"_a, "order"_a, "threads"_a);
    m.def(
        "bleu_scores",
        [](const SharedRows& totals, std::size_t order) {
            return scores_of(totals, order,
                             [&](const double* row, double* out) { bleu_scores(row, order, out); });
        },
        "totals"_a, "order"_a);
    m.def(
        "self_bleu_statistics",
        [](const SharedWords& captions, Offsets group_offsets, std::size_t order,
           std::size_t threads) {
            return matrix_of(captions.size(), 2 * order + 2, [&](double* out) {
                self_bleu_statistics(view(captions), group_offsets.data(), group_offsets.size() - 1,
                                     order, threads, out);
            });
        },
        "captions"_a, "group_offsets"_a, "order"_a, "threads"_a);
    m.def(
        "rouge_l_statistics",
        [](const SharedWords& candidates, const SharedWords& references,
           const SharedPairing& pairing, double recall_weight, std::size_t threads) {
            return rows_of(candidates.size(), 2, [&](double* out) {
                rouge_l_statistics(view(candidates), view(references), pairing.view(),
                                   recall_weight, threads, out);
            });
        },
        "candidates"_a, "references"_a, "pairing"_a, "recall_weight"_a, "threads"_a);

    nb::class_<DocumentFrequencies>(m, "DocumentFrequencies")
        .def(nb::init<std::size_t>(), "order"_a)
        .def("__len__", &DocumentFrequencies::size)
        .def_prop_ro("order", &DocumentFrequencies::order)
        .def(
            "add_ngrams",
            [](DocumentFrequencies& self, const SharedWords& captions) {
                nb::gil_scoped_release release;
                self.add(view(captions));
            },
            "captions"_a)
        .def(
            "count",
            [](DocumentFrequencies& self, const SharedWords& references,
               Offsets reference_offsets) {
                nb::gil_scoped_release release;
                self.count(view(references), reference_offsets.data(),
                           reference_offsets.size() - 1);
            },
            "references"_a, "reference_offsets"_a)
        .def(
            "count_repeated",
            [](DocumentFrequencies& self, const SharedWords& references, Offsets reference_offsets,
               double log_documents) {
                return rows_of(references.size(), self.order(), [&](double* out) {
                    self.count_repeated(view(references), reference_offsets.data(),
                                        reference_offsets.size() - 1, log_documents, out);
                });
            },
            "references"_a, "reference_offsets"_a, "log_documents"_a)
        .def(
            "set",
            [](DocumentFrequencies& self, const SharedWords& ngrams, ArrayIn<double> frequencies) {
                const WordsView all = view(ngrams);
                for (std::size_t k = 0; k < all.size; ++k) self.set(all[k], frequencies(k));
            },
            "ngrams"_a, "frequencies"_a)
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
        [](const SharedWords& captions, const DocumentFrequencies& frequencies,
           double log_documents, std::size_t threads) {
            return rows_of(captions.size(), frequencies.order(), [&](double* out) {
                cider_norms(view(captions), frequencies, log_documents, threads, out);
            });
        },
        "captions"_a, "frequencies"_a, "log_documents"_a, "threads"_a);
    m.def(
        "cider_statistics",
        [](const SharedWords& candidates, const SharedWords& references,
           const SharedRows& reference_norms, const SharedPairing& pairing,
           const DocumentFrequencies& frequencies, double log_documents, double sigma, bool clip,
           std::size_t threads) {
            const std::size_t order = frequencies.order(), size = candidates.size();
            return rows_of(size, order + 1, [&](double* out) {
                cider_statistics(view(candidates), view(references), reference_norms.values.data(),
                                 pairing.view(), frequencies, {sigma, clip, log_documents}, threads,
                                 out);
                append_ones(out, size, order);
            });
        },
        "candidates"_a, "references"_a, "reference_norms"_a, "pairing"_a, "frequencies"_a,
        "log_documents"_a, "sigma"_a, "clip"_a, "threads"_a);

    m.def(
        "cider_group_sums",
        [](const SharedWords& texts, Offsets candidates, Offsets references, Offsets group_offsets,
           std::size_t order, double sigma, bool clip, std::size_t threads) {
            const std::size_t groups = group_offsets.size() - 1;
            return matrix_of(groups, order, [&](double* out) {
                cider_group_sums(view(texts), candidates.data(), references.data(),
                                 group_offsets.data(), groups, order, {sigma, clip, 0.0}, threads,
                                 out);
            });
        },
        "texts"_a, "candidates"_a, "references"_a, "group_offsets"_a, "order"_a, "sigma"_a,
        "clip"_a, "threads"_a);

    nb::class_<OpenIndex>(m, "MeteorIndex")
        .def_static("open", &open_index, "content"_a)
        .def_prop_ro("kept_texts", [](const OpenIndex& self) { return self.memory->size(); })
        .def(
            "synsets",
            [](const OpenIndex& self, std::string_view word) {
                return synsets_of(self.memory->index(), word);
            },
            "word"_a);
    nb::class_<MeteorIndexBuilder>(m, "MeteorIndexBuilder")
        .def(nb::init<>())
        .def(
            "add_function_words",
            [](MeteorIndexBuilder& self, nb::bytes text) {
                self.add_function_words(text_of(text));
            },
            "text"_a)
        .def(
            "add_prefixes",
            [](MeteorIndexBuilder& self, nb::bytes text) { self.add_prefixes(text_of(text)); },
            "text"_a)
        .def(
            "add_exceptions",
            [](MeteorIndexBuilder& self, nb::bytes text) { self.add_exceptions(text_of(text)); },
            "text"_a)
        .def(
            "add_synsets",
            [](MeteorIndexBuilder& self, nb::bytes text) { self.add_synsets(text_of(text)); },
            "text"_a)
        .def(
            "add_paraphrases",
            [](MeteorIndexBuilder& self, nb::bytes chunk) {
                const std::string_view text = text_of(chunk);
                nb::gil_scoped_release release;
                self.add_paraphrases(text);
            },
            "chunk"_a)
        .def("finish", [](MeteorIndexBuilder& self) {
            std::string blob;
            {
                nb::gil_scoped_release release;
                blob = self.finish();
            }
            return array_of<std::uint8_t>(std::move(blob));
        });
    m.def(
        "meteor_statistics",
        [](const OpenIndex& language, const SharedStrings& candidates,
           const SharedStrings& references, Offsets reference_offsets,
           std::array<double, 4> parameters, std::size_t threads, const PackedStems& stems) {
            const std::optional<StemTable> table = stem_table(stems);
            const std::size_t size = candidates.size();
            return rows_of(size, kMeteorStatistics, [&](double* out) {
                meteor_statistics(*language.memory, view(candidates), view(references),
                                  reference_offsets.data(), size,
                                  meteor_parameters(parameters, table), threads, out);
            });
        },
        "language"_a, "candidates"_a, "references"_a, "reference_offsets"_a, "parameters"_a,
        "threads"_a, "stems"_a = nb::none());
    m.def(
        "meteor_scores",
        [](const SharedRows& totals, std::array<double, 4> parameters,
           std::array<double, kMeteorModules> weights) {
            if (totals.columns != kMeteorStatistics) {
                throw std::invalid_argument("not rows of METEOR's statistics");
            }
            MeteorParameters chosen = meteor_parameters(parameters);
            chosen.weights = weights;
            return rows_of(totals.size, 1, [&](double* out) {
                meteor_scores(totals.values.data(), totals.size, chosen, out);
            });
        },
        "totals"_a, "parameters"_a, "weights"_a);
    m.def(
        "meteor_pairs",
        [](const OpenIndex& language, const SharedStrings& candidates,
           const SharedStrings& references, Offsets candidate_numbers, Offsets reference_numbers,
           std::array<double, 4> parameters, std::size_t threads) {
            const std::size_t pairs = candidate_numbers.size();
            std::vector<double> scores(pairs);
            {
                nb::gil_scoped_release release;
                meteor_pairs(*language.memory, view(candidates), view(references),
                             candidate_numbers.data(), reference_numbers.data(), pairs,
                             meteor_parameters(parameters), threads, nullptr, scores.data());
            }
            return array_of<double>(std::move(scores));
        },
        "language"_a, "candidates"_a, "references"_a, "candidate_numbers"_a, "reference_numbers"_a,
        "parameters"_a, "threads"_a);
    m.def(
        "meteor_best",
        [](const OpenIndex& language, const SharedStrings& candidates,
           const SharedStrings& references, Offsets reference_offsets,
           std::array<double, 4> parameters, std::size_t threads) {
            const std::size_t items = reference_offsets.size() - 1;
            std::vector<double> scores(items);
            std::vector<std::int64_t> best(items), aligned(items);
            {
                nb::gil_scoped_release release;
                meteor_best(language.memory->index(), view(candidates), view(references),
                            reference_offsets.data(), items, meteor_parameters(parameters), threads,
                            best.data(), scores.data(), aligned.data());
            }
            return std::tuple(array_of<std::int64_t>(std::move(best)),
                              array_of<double>(std::move(scores)),
                              array_of<std::int64_t>(std::move(aligned)));
        },
        "language"_a, "candidates"_a, "references"_a, "reference_offsets"_a, "parameters"_a,
        "threads"_a);
    m.def(
        "meteor_alignment",
        [](const OpenIndex& language, std::string_view candidate, std::string_view reference,
           std::array<double, 4> parameters, const PackedStems& stems) {
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
    nb::class_<WordPieces>(m, "WordPieces", R"(The pieces of words that an uncased BERT reads.

Args:
    pieces: Those that begin a word, and with ## before them those that continue one.
    numbers: Their numbers.
    unknown: The number of words that are not made of pieces.
    marks: What may stand in texts as it is, such as [SEP].
    mark_numbers: The numbers of these.)")
        .def(
            "__init__",
            [](WordPieces* self, const SharedStrings& pieces, Ids numbers, std::uint32_t unknown,
               const SharedStrings& marks, Ids mark_numbers) {
                new (self) WordPieces(view(pieces), numbers.data(), unknown, view(marks),
                                      mark_numbers.data());
            },
            "pieces"_a, "numbers"_a, "unknown"_a, "marks"_a, "mark_numbers"_a)
        .def(
            "cut",
            [](const WordPieces& self, const SharedStrings& texts, std::size_t threads) {
                nb::gil_scoped_release release;
                return shared(self.cut(view(texts), threads));
            },
            "texts"_a, "threads"_a, "The numbers of each text's pieces.");
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
