#include "ptb_patterns.hpp"

#include <algorithm>
#include <map>
#include <stdexcept>
#include <tuple>
#include <unordered_map>
#include <utility>

#include "unicode.hpp"

namespace reelscore::ptb {
namespace {

constexpr std::uint32_t kLastCode = 0xFFFF;

using State = std::uint16_t;
constexpr State kDead = 0;

CodeSet normalised(CodeSet set) {
    CodeSet flat;
    for (const auto& range : set) {
        if (range.step == 1) {
            flat.push_back(range);
        } else {
            for (auto c = range.first; c <= range.last; c += range.step) flat.push_back({c, c});
        }
    }
    std::sort(flat.begin(), flat.end(),
              [](const CodeRange& a, const CodeRange& b) { return a.first < b.first; });
    CodeSet out;
    for (const auto& range : flat) {
        if (!out.empty() && range.first <= out.back().last + 1) {
            out.back().last = std::max(out.back().last, range.last);
        } else {
            out.push_back(range);
        }
    }
    return out;
}

CodeSet complement(const CodeSet& set) {
    CodeSet out;
    std::uint32_t next = 0;
    for (const auto& range : set) {
        if (range.first > next) out.push_back({next, range.first - 1});
        next = range.last + 1;
    }
    if (next <= kLastCode) out.push_back({next, kLastCode});
    return out;
}

// The nondeterministic automaton (Thompson's construction).
struct Node {
    enum class Kind { character, split, accept } kind;
    int set = -1;   // character: index of its set
    int rule = -1;  // accept
    int next = -1, other = -1;
};

struct Piece {  // a part under construction: entered at `in`, left through the free node `out`
    int in, out;
};

class Builder {
  public:
    Builder(const Definition* definitions, std::size_t count) {
        for (std::size_t k = 0; k < count; ++k) definitions_[definitions[k].name] = &definitions[k];
    }

    // The entry of an automaton for the first pattern followed by the second.
    int add(std::string_view first, std::string_view second, int rule) {
        const Piece whole = join(parse_all(first), parse_all(second));
        nodes[whole.out].kind = Node::Kind::accept;
        nodes[whole.out].rule = rule;
        return whole.in;
    }

    std::vector<Node> nodes;
    std::vector<CodeSet> sets;

  private:
    int add_node(Node::Kind kind) {
        nodes.push_back({kind});
        return static_cast<int>(nodes.size()) - 1;
    }

    int add_set(CodeSet set) {
        for (std::size_t k = 0; k < sets.size(); ++k) {
            if (same(sets[k], set)) return static_cast<int>(k);
        }
        sets.push_back(std::move(set));
        return static_cast<int>(sets.size()) - 1;
    }

    static bool same(const CodeSet& a, const CodeSet& b) {
        return std::equal(a.begin(), a.end(), b.begin(), b.end(),
                          [](const CodeRange& x, const CodeRange& y) {
                              return x.first == y.first && x.last == y.last;
                          });
    }

    Piece empty() {
        const int node = add_node(Node::Kind::split);
        return {node, node};
    }

    Piece one_of(CodeSet set) {
        const int node = add_node(Node::Kind::character);
        const int out = add_node(Node::Kind::split);
        nodes[node].set = add_set(std::move(set));
        nodes[node].next = out;
        return {node, out};
    }

    Piece join(Piece a, Piece b) {
        nodes[a.out].next = b.in;
        return {a.in, b.out};
    }

    Piece parse_all(std::string_view pattern) {
        const auto saved = std::make_pair(text_, at_);
        text_ = pattern;
        at_ = 0;
        const Piece piece = alternatives();
        if (at_ != text_.size()) fail("unexpected ')'");
        std::tie(text_, at_) = saved;
        return piece;
    }

    Piece alternatives() {
        Piece piece = sequence();
        while (at_ < text_.size() && text_[at_] == '|') {
            ++at_;
            const Piece right = sequence();
            const int in = add_node(Node::Kind::split), out = add_node(Node::Kind::split);
            nodes[in].next = piece.in;
            nodes[in].other = right.in;
            nodes[piece.out].next = out;
            nodes[right.out].next = out;
            piece = {in, out};
        }
        return piece;
    }

    Piece sequence() {
        Piece piece = empty();
        while (at_ < text_.size() && text_[at_] != '|' && text_[at_] != ')') {
            piece = join(piece, repeated());
        }
        return piece;
    }

    Piece repeated() {
        const std::size_t begin = at_;
        Piece piece = atom();
        if (at_ == text_.size()) return piece;
        const char sign = text_[at_];
        if (sign == '*' || sign == '+' || sign == '?') {
            ++at_;
            return sign == '*'   ? optional(many(piece))
                   : sign == '+' ? many(piece)
                                 : optional(piece);
        }
        if (sign == '{' && at_ + 1 < text_.size() && is_digit(text_[at_ + 1])) {
            ++at_;
            const int least = number();
            int most = least;
            if (text_[at_] == ',') {
                ++at_;
                most = number();
            }
            ++at_;  // the closing brace
            const std::size_t behind = at_;
            for (int k = 1; k < most; ++k) {  // read the atom again for each copy
                at_ = begin;
                const Piece copy = atom();
                piece = join(piece, k < least ? copy : optional(copy));
            }
            at_ = behind;
            return least == 0 ? optional(piece) : piece;
        }
        return piece;
    }

    Piece many(Piece piece) {
        const int out = add_node(Node::Kind::split);
        nodes[piece.out].next = piece.in;
        nodes[piece.out].other = out;
        return {piece.in, out};
    }

    Piece optional(Piece piece) {
        const int in = add_node(Node::Kind::split), out = add_node(Node::Kind::split);
        nodes[in].next = piece.in;
        nodes[in].other = out;
        nodes[piece.out].next = out;
        return {in, out};
    }

    Piece atom() {
        const char c = text_[at_];
        if (c == '(') {
            const bool saved = both_cases_;
            ++at_;
            if (text_.substr(at_, 3) == "?i:") {
                at_ += 3;
                both_cases_ = true;
            }
            const Piece piece = alternatives();
            if (at_ == text_.size()) fail("missing ')'");
            ++at_;
            both_cases_ = saved;
            return piece;
        }
        if (c == '[') return one_of(set());
        if (c == '.') {
            ++at_;
            return one_of({{0, kLastCode}});
        }
        if (c == '{') {
            const Definition& named = definition();
            if (named.ranges != nullptr) return one_of(set_of(named));
            return parse_all(named.pattern);
        }
        const auto code = character();
        return one_of(with_cases({{code, code}}));
    }

    CodeSet set() {
        ++at_;
        const bool negated = text_[at_] == '^';
        if (negated) ++at_;
        CodeSet out;
        while (at_ < text_.size() && text_[at_] != ']') {
            if (text_[at_] == '{') {
                const CodeSet named = set_of(definition());
                out.insert(out.end(), named.begin(), named.end());
                continue;
            }
            const auto first = character();
            auto last = first;
            if (text_[at_] == '-' && text_[at_ + 1] != ']') {
                ++at_;
                last = character();
            }
            out.push_back({first, last});
        }
        ++at_;
        out = with_cases(out);
        return negated ? complement(out) : out;
    }

    CodeSet set_of(const Definition& named) {
        if (named.ranges != nullptr) {
            return normalised(CodeSet(named.ranges, named.ranges + named.range_count));
        }
        const auto saved = std::make_pair(text_, at_);
        text_ = named.pattern;
        at_ = 0;
        const CodeSet out = set();
        std::tie(text_, at_) = saved;
        return out;
    }

    CodeSet with_cases(CodeSet set) const {
        if (both_cases_) {
            CodeSet more;
            for (const auto& range : set) {
                for (auto c = range.first; c <= range.last && c < 128; ++c) {
                    const bool letter = (c | 32) >= 'a' && (c | 32) <= 'z';
                    if (letter) more.push_back({c ^ 32, c ^ 32});
                }
            }
            set.insert(set.end(), more.begin(), more.end());
        }
        return normalised(std::move(set));
    }

    const Definition& definition() {
        const std::size_t close = text_.find('}', at_);
        const auto name = text_.substr(at_ + 1, close - at_ - 1);
        at_ = close + 1;
        const auto found = definitions_.find(name);
        if (found == definitions_.end()) fail("unknown name " + std::string(name));
        return *found->second;
    }

    std::uint32_t character() {
        if (text_[at_] != '\\') return decode(text_, at_);
        const char c = text_[++at_];
        ++at_;
        if (c == 'n') return '\n';
        if (c == 't') return '\t';
        if (c != 'x' || text_[at_] != '{') return static_cast<unsigned char>(c);
        std::uint32_t code = 0;
        for (++at_; text_[at_] != '}'; ++at_) {
            const char digit = text_[at_];
            code = code * 16 +
                   static_cast<std::uint32_t>(digit <= '9' ? digit - '0' : digit - 'A' + 10);
        }
        ++at_;
        return code;
    }

    int number() {
        int value = 0;
        while (is_digit(text_[at_])) value = value * 10 + (text_[at_++] - '0');
        return value;
    }

    static bool is_digit(char c) { return c >= '0' && c <= '9'; }

    [[noreturn]] void fail(const std::string& what) const {
        throw std::logic_error("ptb pattern: " + what + " in " + std::string(text_));
    }

    std::map<std::string_view, const Definition*> definitions_;
    std::string_view text_;
    std::size_t at_ = 0;
    bool both_cases_ = false;
};

// Adds to `states` the character and accept nodes reachable from `node` without reading anything.
// `seen` marks the nodes met with the number of the round.
void close(const std::vector<Node>& nodes, int node, std::vector<int>& states,
           std::vector<int>& seen, int round) {
    std::vector<int> stack{node};
    while (!stack.empty()) {
        const int k = stack.back();
        stack.pop_back();
        if (k < 0 || seen[k] == round) continue;
        seen[k] = round;
        if (nodes[k].kind == Node::Kind::split) {
            stack.push_back(nodes[k].next);
            stack.push_back(nodes[k].other);
        } else {
            states.push_back(k);
        }
    }
}

}  // namespace

Tables compile(const Definition* definitions, std::size_t definition_count,
               const RulePattern* rules, std::size_t rule_count) {
    Tables tables;
    Builder builder(definitions, definition_count);
    std::vector<int> starts, pattern_starts, ahead_starts;
    for (std::size_t k = 0; k < rule_count; ++k) {
        const int rule = static_cast<int>(k);
        starts.push_back(builder.add(rules[k].pattern, rules[k].ahead, rule));
        if (rules[k].ahead.empty()) continue;
        pattern_starts.push_back(builder.add(rules[k].pattern, {}, rule));
        ahead_starts.push_back(builder.add(rules[k].ahead, {}, rule));
    }
    const auto& nodes = builder.nodes;
    const auto& sets = builder.sets;

    // Characters that belong to exactly the same sets share one symbol. Between two borders of
    // ranges nothing changes, so one character of each such stretch decides.
    std::vector<std::uint32_t> borders{0, kLastCode + 1};
    for (const auto& set : sets) {
        for (const auto& range : set) {
            borders.push_back(range.first);
            borders.push_back(range.last + 1);
        }
    }
    std::sort(borders.begin(), borders.end());
    borders.erase(std::unique(borders.begin(), borders.end()), borders.end());
    std::vector<std::vector<std::uint32_t>> members(borders.size());
    for (std::size_t k = 0; k < sets.size(); ++k) {
        for (const auto& range : sets[k]) {
            auto stretch = static_cast<std::size_t>(
                std::lower_bound(borders.begin(), borders.end(), range.first) - borders.begin());
            for (; borders[stretch] <= range.last; ++stretch) {
                members[stretch].push_back(static_cast<std::uint32_t>(k));
            }
        }
    }
    std::map<std::vector<std::uint32_t>, std::uint8_t> symbols;
    std::vector<std::vector<std::uint32_t>> symbol_sets;
    tables.symbols.resize(kLastCode + 1);
    for (std::size_t stretch = 0; stretch + 1 < borders.size(); ++stretch) {
        const auto [place, fresh] =
            symbols.emplace(members[stretch], static_cast<std::uint8_t>(symbols.size()));
        if (fresh) symbol_sets.push_back(members[stretch]);
        if (symbols.size() > 256) throw std::logic_error("ptb pattern: too many symbols");
        std::fill(tables.symbols.begin() + borders[stretch],
                  tables.symbols.begin() + borders[stretch + 1], place->second);
    }
    tables.symbol_count = symbols.size();

    std::vector<std::vector<std::uint8_t>> set_symbols(sets.size());
    for (std::size_t s = 0; s < symbol_sets.size(); ++s) {
        for (const auto set : symbol_sets[s]) {
            set_symbols[set].push_back(static_cast<std::uint8_t>(s));
        }
    }

    // What a character node leads to, worked out once for each.
    std::vector<std::vector<int>> closures(nodes.size());
    std::vector<int> seen(nodes.size());
    int round = 0;
    for (std::size_t k = 0; k < nodes.size(); ++k) {
        if (nodes[k].kind != Node::Kind::character) continue;
        close(nodes, nodes[k].next, closures[k], seen, ++round);
    }

    // The subset construction.
    struct Hash {
        std::size_t operator()(const std::vector<int>& subset) const {
            std::size_t hash = subset.size();
            for (const int k : subset)
                hash = hash * 0x9E3779B97F4A7C15u + static_cast<std::size_t>(k);
            return hash;
        }
    };
    std::unordered_map<std::vector<int>, State, Hash> known;
    std::vector<const std::vector<int>*> pending;
    auto state_of = [&](std::vector<int> subset) -> State {
        if (subset.empty()) return kDead;
        std::sort(subset.begin(), subset.end());
        subset.erase(std::unique(subset.begin(), subset.end()), subset.end());
        const auto state = static_cast<State>(tables.accepts.size());
        const auto [place, fresh] = known.emplace(std::move(subset), state);
        if (!fresh) return place->second;
        if (tables.accepts.size() == 0xFFFF) throw std::logic_error("ptb pattern: too many states");
        int rule = -1;
        for (const int k : place->first) {
            if (nodes[k].kind == Node::Kind::accept && (rule < 0 || nodes[k].rule < rule)) {
                rule = nodes[k].rule;
            }
        }
        tables.accepts.push_back(static_cast<std::int16_t>(rule));
        tables.next.resize(tables.accepts.size() * tables.symbol_count, kDead);
        pending.push_back(&place->first);
        return state;
    };
    tables.accepts.push_back(-1);  // the dead state
    tables.next.resize(tables.symbol_count, kDead);
    auto start_state = [&](const std::vector<int>& entries) {
        std::vector<int> subset;
        ++round;
        for (const int entry : entries) close(nodes, entry, subset, seen, round);
        return state_of(std::move(subset));
    };
    start_state(starts);
    tables.parts.resize(rule_count);
    for (std::size_t k = 0, part = 0; k < rule_count; ++k) {
        if (rules[k].ahead.empty()) continue;
        tables.parts[k] = {start_state({pattern_starts[part]}), start_state({ahead_starts[part]})};
        ++part;
    }
    std::vector<std::vector<int>> targets(tables.symbol_count);
    for (std::size_t done = 0; done < pending.size(); ++done) {
        for (const int k : *pending[done]) {
            if (nodes[k].kind != Node::Kind::character) continue;
            for (const auto symbol : set_symbols[nodes[k].set]) {
                targets[symbol].insert(targets[symbol].end(), closures[k].begin(),
                                       closures[k].end());
            }
        }
        // Most symbols lead to one of a few places: look those up once.
        std::vector<std::size_t> distinct;
        for (std::size_t symbol = 0; symbol < tables.symbol_count; ++symbol) {
            if (targets[symbol].empty()) continue;
            State* const row = &tables.next[(done + 1) * tables.symbol_count];
            const auto same = std::find_if(distinct.begin(), distinct.end(), [&](std::size_t k) {
                return targets[k] == targets[symbol];
            });
            if (same != distinct.end()) {
                row[symbol] = row[*same];
                continue;
            }
            distinct.push_back(symbol);
            const State target = state_of(targets[symbol]);
            tables.next[(done + 1) * tables.symbol_count + symbol] =
                target;  // tables.next may have moved
        }
        for (auto& target : targets) target.clear();
    }
    return tables;
}

}  // namespace reelscore::ptb
