#include "ptb_rules.hpp"

#include <iterator>

namespace reelscore::ptb {
namespace {

#include "ptb_characters.inc"

template <std::size_t size>
constexpr Definition characters(std::string_view name, const CodeRange (&ranges)[size]) {
    return {name, {}, ranges, size};
}

}  // namespace

const Definition kDefinitions[] = {
    // --- Characters -----------------------------------------------------------------------------
    characters("foreign letter", kLetters),
    characters("foreign capital", kCapitals),
    characters("mark", kMarks),
    characters("foreign digit", kDigits),
    characters("symbol", kSymbols),
    {"letter", R"([A-Za-z{foreign letter}])"},
    {"digit", R"([0-9{foreign digit}])"},
    {"alnum", R"([{letter}{digit}])"},
    {"capital", R"([A-Z{foreign capital}])"},
    {"shy", R"([\x{AD}])"},  // the soft hyphen: part of words, but never written
    {"accented", R"((?i:&[aeiou](acute|grave|uml);))"},  // caf&eacute; is a word
    {"word letter", R"(([{letter}{mark}{shy}]|{accented}))"},
    {"hyphen", R"([\-_\x{58A}\x{2010}\x{2011}])"},

    // U+0085 is no white space by itself (it is an ellipsis), but passes for one in look-ahead.
    {"blank", R"([ \t\x{A0}\x{2000}-\x{200A}\x{3000}])"},
    {"space", R"([{blank}\n\x{85}])"},
    {"plain blank", R"([ \x{A0}])"},

    // U+0080 to U+0097 are what Windows-1252 text becomes when read as Latin-1.
    {"apostrophe", R"(['\x{92}\x{2019}]|(?i:&apos;))"},
    {"any apostrophe", R"(['`\x{91}\x{92}\x{2018}\x{2019}\x{201B}]|(?i:&apos;))"},
    {"quotation mark", R"([`\x{91}-\x{94}\x{AB}\x{BB}\x{2018}-\x{201F}\x{2039}\x{203A}])"},

    // --- Words ----------------------------------------------------------------------------------
    // man, R2D2, and words glued by a missing blank: man.the, hey!you
    {"simple word", R"({word letter}({word letter}|{digit})*)"},
    {"word", R"({simple word}([.!?]{simple word})*)"},

    // 2-year-old, foo_bar, hors-d'oeuvre; no marks here
    {"part", R"(([dloDLO]{any apostrophe}{alnum})?{alnum}+)"},
    {"compound", R"({part}({hyphen}{part})*)"},

    // u.s.-based, non-U.S., 1.5-inch, dog.-tired; ASCII only
    {"acronym", R"([A-Za-z]\.([A-Za-z]\.)+)"},
    {"ascii compound", R"([A-Za-z0-9][A-Za-z0-9.,{shy}]*(-([A-Za-z0-9{shy}]+|{acronym}))+)"},

    // AT&T, AT&amp;T, A+B
    {"company", R"([A-Z]+(([&+]|(?i:&amp;))[A-Z]+)+)"},

    // 's 'm 'd 'll 're 've
    {"clitic", R"({apostrophe}(?i:[smd]|ll|re|ve))"},

    // 1,000 3.5 10:30 .50; U+066B and U+066C are the Arabic separators
    {"separator", R"([.,:\x{66B}\x{66C}])"},
    {"more digits", R"(([{separator}{shy}]{digit}+)*)"},
    {"number", R"([\-+]?({shy}?{digit}+|{separator}{digit}+){more digits})"},

    // --- Markup and addresses -------------------------------------------------------------------
    {"name", R"([A-Za-z][A-Za-z0-9_:.\-]*)"},
    {"attribute", R"( +{name}( *= *('[^']*'|"[^"]*"))?)"},
    {"tag", R"(<([!?][A-Za-z\-][^>\n]*|/{name} *|{name}({attribute})* */?)>)"},

    {"url character", R"([^ \t\n"<>|()])"},
    {"url end", R"([^ \t\n"<>|().!?,\-\{\}])"},
    {"path", R"((/{url character}+{url end})?)"},
    {"mail character", R"([^ \t\n\x{A0}"<>|()\{\}])"},
    {"mail label", R"([^ \t\n\x{A0}"<>|()\{\}.])"},

    // --- Abbreviations --------------------------------------------------------------------------
    // Those that never end a sentence.
    {"title",
     "(?i:adj|adm|adv|alex|assoc|asst|attys?|ave|brig|capt|cf|cie|cmdr|col|comdr|cont'd|cpl|dept|"
     "det|drs?|elec|ens|ft|gen|govs?|hon|insp|invt|jos|lieut|lt|maj|messrs|mlle|mme|mrs?|ms|msgr|"
     "mt|natl|pfc|ph|pres|profs?|pvt|reps?|rev|sens?|sfc|sgt|spc|ste?|supts?|treas|vs|wm)|"
     "(?i:m)[ft](?i:g)"},
    // Those that may: companies, months, days, states. Some states only with a capital, since in
    // small letters they are words: "miss.", "mass.", "la."
    {"closer",
     "(?i:al|ala|apr|ariz|assn|aug|bancorp|bhd|bldg|blvd|bros|calif|cos?|colo|conn|corp|ct|dak|"
     "dec|esq|est|etc|ext|feb|fla|fri|ga|inc|ind|intl|jan|jr|jul|jun|kans?|ky|ltd|mar|md|mich|"
     "minn|mo|mon|mont|neb|nev|nov|oct|okla|penn|plc|rd|rt|sept?|seq|sq|sr|sys|tel|tenn|thu|"
     "thurs|tues?|univ|va|vt|wed|wisc?|wyo)|(?i:pp?t)[ey](?i:s)?|(?i:ed|ph)\\.(?i:d)|"
     "A(?i:rk|z)|D(?i:el)|I(?i:ll)|L(?i:a)|M(?i:ass|iss)|O(?i:re)|P(?i:a)|T(?i:ex)|W(?i:ash)"},
    // Those that count only before a number: "no. 5", but "he says no. Then"
    {"numbered", "(?i:art|ca|figs?|nos?|op|pp|prop)"},

    // What shows that "plan B." or "in the U.S." did end a sentence: one of these words, or a tag.
    {"opener",
     "A(?i:bout|ccording|dditionally|fter|n|s|t)?|B(?i:ut)|E(?i:arlier)|H(?i:ere?|e|owever)|"
     "I(?i:[fnt])|L(?i:ast)|M(?i:any|ore|r\\.|s\\.)|N(?i:ow)|O(?i:nce|ne|ther|ur)|"
     "S(?i:he|ince|o|ome|uch)|T(?i:hat|he|heir|hen|here|hese|hey|his)|W(?i:e|hat|hen|hile)|"
     "Y(?i:et|ou)"},
    {"new sentence", "{space}+({opener}|{tag}){space}"},
};
const std::size_t kDefinitionCount = std::size(kDefinitions);

// In this order: of two rules that match the same length, the earlier counts. Where the order
// matters, the comment says so. "a|b" in the comments: one word, split there.
const Rule kRules[] = {
    {"white space", R"({blank}+|(?i:&nbsp;))", "", Make::skip},

    // <b>, </b>, <unk>, <a href="x">, <!-- note -->, <?xml version="1.0"?>
    {"tag", "{tag}", "", Make::markup},

    // --- Words with an apostrophe ---------------------------------------------------------------
    // can|not, gon|na, wan|na, got|ta, gim|me, lem|me: before "word", which is as long
    {"cannot", "(?i:can)", "(?i:not)", Make::same},
    {"gonna", "(?i:gon|wan)", "(?i:na)", Make::same},
    {"gotta", "(?i:got)", "(?i:ta)", Make::same},
    {"gimme", "(?i:gim|lem)", "(?i:me)", Make::same},
    {"'tis", "'(?i:t)", "(?i:is|was)", Make::same},  // '|t is, '|t was

    // do|n't, do|n`t; only after ASCII letters, and not after n (cann't)
    {"do", R"([A-Za-z{shy}]*[A-MO-Za-mo-z]{shy}*)", "(?i:n{any apostrophe}t)", Make::word},
    {"n't", "(?i:n{any apostrophe}t)", "", Make::apostrophes},

    // AREA|'S: before "ma'am", which would take the whole
    {"area", "{word}", "{clitic}", Make::word},
    {"'s", "{clitic}", "[^A-Za-z]", Make::apostrophes},

    {"'90s", "{apostrophe}[2-9]0[sS]", "", Make::same},
    {"'99", "{apostrophe}[0-9][0-9]", "{space}", Make::same},
    {"'em", "{apostrophe}(?i:em|till?|cause|n{apostrophe}?)", "", Make::same},  // rock 'n' roll
    {"ol'", "(?i:(ol|somethin|dunkin){apostrophe})", "", Make::same},
    {"c'mon", "(?i:c'mon|c'est|cap'n|s'mores|li'l|e'er|ev'ry|nat'l|o{any apostrophe}o)", "",
     Make::same},

    // 'hello': the sign that opens a quotation. After the words above and before 'll, 're, 've,
    // which therefore need a character behind them: at the end of the text 'll is ` and ll.
    {"'hello", "'", R"([A-Za-z][^ \t\n\x{A0}])", Make::fixed, "`"},
    {"'s at the end", "{clitic}", "", Make::apostrophes},

    {"y'all", "[yY]{apostrophe}", "{letter}", Make::same},  // y'|all
    {"j'ai", "[djlDJL]{apostrophe}", "", Make::same},       // j'|ai, but l'avion is a compound
    {"O'Neil", "[A-HJ-XZn]{any apostrophe}{letter}{letter}+", "", Make::word},
    {"ma'am", "{letter}+[aeiouyAEIOUY]{any apostrophe}[aeiouA-Z]{letter}*", "", Make::word},

    // --- Abbreviations and words ----------------------------------------------------------------
    {"B. The", "[A-Za-z]", R"(\.{new sentence})", Make::same},     // B|. The
    {"U.S. The", "{acronym}", "{new sentence}", Make::last_dot},   // U.S.|. The
    {"Mr.", R"([A-Za-z]\.|{acronym}|{title}\.)", "", Make::same},  // a. U.S. Mr.
    {"word", "{word}", "", Make::word},                            // before "Inc. a": co.co

    {"mail",  // a@b.com, <a@b.com>; before "Inc. a": co.@x
     R"((<|&lt;)?[A-Za-z0-9]{mail character}*@({mail label}+\.)*{mail label}+(>|&gt;)?)", "",
     Make::same},

    // Inc. a: the full stop belongs to the abbreviation. Inc. The: and it ends a sentence, so it
    // is a token as well. So it is if nothing follows, or just one character.
    {"Co. Ltd", R"((?i:co|pt[ey])\.)", "{blank}(?i:ltd|lim)", Make::same},
    {"Inc. The", R"(({closer})\.)", "{space}+({capital}|{tag})", Make::last_dot},
    {"Inc. a", R"(({closer})\.)", R"([^{space}].|{space}[^{space}])", Make::same},
    {"Inc.", R"(({closer})\.)", "", Make::last_dot},
    {"no. 5", R"({numbered}\.)", "{space}?{digit}", Make::same},

    // dog., cat: before another mark any word keeps its full stop
    {"dog.,", R"(({word}|{compound}|{ascii compound})\.)", R"([,;:\x{3001}])", Make::word},
    {"AT&T.,", R"({company}\.)", R"([,;:\x{3001}])", Make::ampersand},

    {"pro-", "(?i:pro|anti)-", "", Make::same},
    {"ascii compound", "{ascii compound}", "", Make::word},
    {"compound", "{compound}", "", Make::word},
    {"company", "{company}", "", Make::ampersand},
    {"C++", R"([Cc]\+\+|[CFcf]#)", "", Make::same},

    // and/or, his/her/their, push-up/sit-up; a third slash is a token, and so is a third hyphen
    {"and/or", R"([A-Za-z0-9]+(-[A-Za-z]+){0,2}(\\?/[A-Za-z0-9]+(-[A-Za-z]+){0,2}){1,2})", "",
     Make::same},

    // --- Numbers --------------------------------------------------------------------------------
    {"number", "{number}", "", Make::word},
    {"date", R"({digit}{1,2}[\-/]{digit}{1,2}[\-/]{digit}{2,4})", "", Make::same},  // 12/25-2020
    {"fraction",  // 1/2, 1 1/2, 1-1/2
     R"(({digit}{1,4}[\-{plain blank}])?{digit}{1,4}(\\?/|\x{2044}){digit}{1,4})", "",
     Make::joined},
    {"telephone",  // (555) 123-4567, 555 123 4567, +44 20 7946 0958
     R"((\([0-9]{2,3}\){plain blank}?|)"
     R"((\+\+?)?([0-9]{2,4}[\-{plain blank}])?[0-9]{2,4}[\-{plain blank}]))"
     R"([0-9]{3,4}[\-{plain blank}]?[0-9]{3,5})",
     "", Make::joined},
    {"superscript",  // with an optional sign: x⁻²
     R"([\x{207A}\x{207B}\x{208A}\x{208B}]?)"
     R"(([\x{B2}\x{B3}\x{B9}\x{2070}\x{2074}-\x{2079}]+|[\x{2080}-\x{2089}]+))",
     "", Make::same},
    {"one quarter", R"(\x{BC})", "", Make::fixed, "1/4"},
    {"one half", R"(\x{BD})", "", Make::fixed, "1/2"},
    {"three quarters", R"(\x{BE})", "", Make::fixed, "3/4"},
    {"one third", R"(\x{2153})", "", Make::fixed, "1/3"},
    {"two thirds", R"(\x{2154})", "", Make::fixed, "2/3"},
    {"US$", R"([A-Z]+\$)", "", Make::same},
    {"euro", R"([\x{80}\x{A4}\x{20A0}\x{20AC}])", "", Make::fixed, "$"},
    {"cent", R"(\x{A2})", "", Make::fixed, "cents"},
    {"pound", R"(\x{A3})", "", Make::fixed, "#"},

    // --- Addresses, file names, smileys ---------------------------------------------------------
    {"url", R"((?i:https?)://[^ \t\n"<>|()\{\}]+{url end})", "", Make::same},
    {"www", R"((?i:www)\.([^ \t\n"<>|()\{\}.!?,]+\.)+[A-Za-z]{2,4}{path})", "", Make::same},
    {"domain",  // example.com/path. No digits, no capitals: the jar has it so
     R"(([^ \t\n!"$'(),\-./0-9:;<=>?@A-Z\[\\\]^_`\{|\}]+\.)+(?i:com|net|org|edu){path})", "",
     Make::same},
    {"mention", R"(@[A-Za-z_][A-Za-z0-9_]*)", "", Make::same},
    {"hashtag", R"(#{word letter}+)", "", Make::same},
    {"file",  // 2.pdf; most file names are plain words in the sense above: foo.txt
     R"(({word letter}|{digit})+(\.({word letter}|{digit})+)*\.)"
     R"((?i:[chx]|bat|bmp|cgi|class|cpp|dll|docx?|exe|gif|gz|html?|jar|java|jpe?g|mov|mp3|pdf|php|)"
     R"(pl|png|ppt|ps|py|sql|tar|txt|wav|xml|zip))",
     "{space}|[.,?!]", Make::same},
    {"smiley", R"([<>]?[:;=][\-o*']?[()DPdpO\\\{@|\[\]])", "[^A-Za-z0-9]", Make::brackets},
    {"Asian smiley",  // ^_^  (^^)  (^-^)
     R"(['\-<=>^~x]_['\-<=>^~x]|\(['\-<=>^~x][_.]?['\-<=>^~x]\)|\(['<=>^~x]-['<=>^~x`]\))", "",
     Make::brackets},

    // --- Punctuation ----------------------------------------------------------------------------
    {"dash", R"(-{2,4}|[\x{96}\x{97}\x{2013}-\x{2015}]|&(?i:mdash|ndash|md);)", "", Make::fixed,
     "--"},
    {"ellipsis", R"(\.{3,5}|\.({plain blank}\.){2,4}|[\x{85}\x{2026}])", "", Make::fixed, "..."},
    {"run", R"(-{5}-*|[?!]+|_+|\*+|(\\\*)+|#+|@+|<<|>>)", "", Make::same},
    {"bracket name", "-(?i:[lr][rcs]b)-", "", Make::same},  // -LRB-: tokenized before
    {"ampersand", "(?i:&amp;)", "", Make::fixed, "&"},
    {"less", "(?i:&lt;)", "", Make::fixed, "<"},
    {"greater", "(?i:&gt;)", "", Make::fixed, ">"},
    {"opening quote", R"("|&quot;)", "[A-Za-z0-9$]", Make::fixed, "``"},
    {"closing quote", R"("|&quot;|'')", "", Make::fixed, "''"},
    {"apostrophe", "&apos;", "", Make::fixed, "'"},
    // Entities that are one token but stay as they are; &QUOT; too, hence after &quot;.
    {"entity", "&(#[0-9]+|(?i:quot|apos|ht|tl|[lu]r|q[clr]|[co]dq));", "", Make::same},
    {"quotes", "{quotation mark}{1,2}", "", Make::quotes},
    {"(", R"(\()", "", Make::fixed, "-LRB-"},
    {")", R"(\))", "", Make::fixed, "-RRB-"},
    {"[", R"(\[)", "", Make::fixed, "-LSB-"},
    {"]", R"(\])", "", Make::fixed, "-RSB-"},
    {"{", R"(\{)", "", Make::fixed, "-LCB-"},
    {"}", R"(\})", "", Make::fixed, "-RCB-"},
    {"sign", R"([{symbol}\x{24B6}-\x{24CF}&%+=~^|/\\<>$.,;:\-'\x{2044}\x{3001}])", "", Make::same},
};
const std::size_t kRuleCount = std::size(kRules);

}  // namespace reelscore::ptb
