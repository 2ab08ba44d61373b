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
    // Sets of characters.
    characters("foreign letter", kLetters),
    characters("foreign capital", kCapitals),
    characters("mark", kMarks),
    characters("foreign digit", kDigits),
    characters("symbol", kSymbols),
    {"shy", R"([\x{AD}])"},
    {"letter", R"([A-Za-z{foreign letter}])"},
    {"word letter", R"([{letter}{mark}{shy}])"},
    {"digit", R"([0-9{foreign digit}])"},
    {"capital", R"([A-Z{foreign capital}])"},
    {"blank", R"([ \t\x{A0}\x{2000}-\x{200A}\x{3000}])"},
    {"space", R"([ \t\n\x{85}\x{A0}\x{2000}-\x{200A}\x{3000}])"},
    {"apostrophe", R"(['\x{92}\x{2019}]|(?i:&apos;))"},
    
    {"name mark", R"(['`\x{91}\x{92}\x{2018}\x{2019}\x{201B}]|(?i:&apos;))"},
    {"hyphen", R"([\-_\x{58A}\x{2010}\x{2011}])"},
    {"quote", R"([`\x{91}-\x{94}\x{AB}\x{BB}\x{2018}-\x{201F}\x{2039}\x{203A}])"},

    // Words that open a sentence. Other sentences do open with other words, but only these are
    // taken to close "plan B." or "the U.S." before them.
    {"opener",
     "(A(?i:bout|ccording|dditionally|fter|n|s|t)?|B(?i:ut)|E(?i:arlier)|H(?i:e|er|ere|owever)|"
     "I(?i:f|n|t)|L(?i:ast)|M(?i:any|ore|[rs]\\.)|N(?i:ow)|O(?i:nce|ne|ther|ur)|"
     "S(?i:he|ince|o|ome|uch)|T(?i:hat|he|heir|hen|here|hese|hey|his)|W(?i:e|hat|hen|hile)|"
     "Y(?i:et|ou))"},

    // Abbreviations that never end a sentence.
    {"title",
     "(?i:adj|adm|adv|alex|assoc|asst|attys?|ave|brig|capt|cf|cie|cmdr|col|comdr|cont'd|cpl|dept|det|drs?|"
     "elec|ens|ft|gen|govs?|hon|insp|invt|jos|lieut|lt|maj|messrs|mlle|mme|mrs?|ms|msgr|mt|natl|"
     "pfc|ph|pres|profs?|pvt|reps?|rev|sens?|sfc|sgt|spc|ste?|supts?|treas|vs|wm)|(?i:m)[ft](?i:g)"},
    // Abbreviations that may: companies, months, days, states …
    {"closer",
     "(?i:al|ala|apr|ariz|assn|aug|bancorp|bhd|bldg|blvd|bros|calif|cos?|colo|conn|corp|ct|dak|dec|"
     "esq|est|etc|ext|feb|fla|fri|ga|inc|ind|intl|jan|jr|jul|jun|kans?|ky|ltd|mar|md|mich|minn|mo|"
     "mon|mont|neb|nev|nov|oct|okla|penn|plc|rd|rt|sept?|seq|sq|sr|sys|tel|tenn|thu|thurs|tues?|"
     "univ|va|vt|wed|wisc?|wyo)|(?i:pp?t)[ey](?i:s)?|"
     "A(?i:rk|z)|D(?i:el)|I(?i:ll)|L(?i:a)|M(?i:ass|iss)|O(?i:re)|P(?i:a)|T(?i:ex)|W(?i:ash)|"
     "(?i:ph|ed)\\.(?i:d)"},
    // Abbreviations only before a number: "no. 5", "fig. 2".
    {"numbered", "(?i:art|ca|figs?|nos?|op|pp|prop)"},

    {"thing", R"(([dDoOlL]{name mark}[{letter}{digit}])?[{letter}{digit}]+({hyphen}([dDoOlL]{name mark}[{letter}{digit}])?[{letter}{digit}]+)*)"},
    {"acronym", R"([A-Za-z]\.([A-Za-z]\.)+)"},
    {"word", R"({word letter}[{word letter}{digit}]*([.!?]{word letter}[{word letter}{digit}]*)*)"},
    {"joined", R"([A-Za-z0-9][A-Za-z0-9.,{shy}]*(-([A-Za-z0-9{shy}]+|{acronym}))+)"},
    {"company", R"([A-Z]+(([&+]|(?i:&amp;))[A-Z]+)+)"},
    {"number", R"({shy}?{digit}+([.,:{shy}\x{66B}\x{66C}]{digit}+)*|[.,:\x{66B}\x{66C}]{digit}+([.,:{shy}\x{66B}\x{66C}]{digit}+)*)"},
    {"name", R"([A-Za-z][A-Za-z0-9_:.\-]*)"},
    {"tag",
     R"(<([!?][A-Za-z\-][^>\n]*|/{name} *|{name}( +{name}( *= *('[^']*'|"[^"]*"))?)* */?)>)"},
    {"opening", "{space}+({opener}|{tag}){space}"},
    {"url character", R"([^ \t\n"<>|()])"},
    {"url end", R"([^ \t\n"<>|().!?,\-\{\}])"},
    {"mail character", R"([^ \t\n"<>|()\{\}\x{A0}])"},
    {"mail label", R"([^ \t\n"<>|().\{\}\x{A0}])"},
};
const std::size_t kDefinitionCount = std::size(kDefinitions);

const Rule kRules[] = {
    {"white space", R"({blank}+|(?i:&nbsp;))", "", Make::skip},

    // <b>, </b>, <a href="x">, <!-- … -->
    {"tag", "{tag}", "", Make::markup},

    // can|not, gon|na, 't|is
    {"cannot", "(?i:can)", "(?i:not)", Make::same},
    {"gonna", "(?i:gon|wan)", "(?i:na)", Make::same},
    {"gotta", "(?i:got)", "(?i:ta)", Make::same},
    {"gimme", "(?i:gim|lem)", "(?i:me)", Make::same},
    {"'tis", "'(?i:t)", "(?i:is|was)", Make::same},

    // do|n't
    {"before n't", R"([A-Za-z{shy}]*[A-MO-Za-mo-z]{shy}*)", "(?i:n{name mark}t)", Make::word},
    {"before 's", "{word}", "{apostrophe}(?i:[smd]|ll|re|ve)", Make::word},
    {"n't", "(?i:n{name mark}t)", "", Make::apostrophes},
    {"'s", "{apostrophe}(?i:[smd]|ll|re|ve)", "[^A-Za-z]", Make::apostrophes},
    {"'90s", "{apostrophe}[2-9]0[sS]", "", Make::same},
    {"'90", "{apostrophe}[0-9][0-9]", "{space}", Make::same},
    {"'em", "{apostrophe}(?i:em|till?|cause|n{apostrophe}?)|(?i:c'(mon|est)|cap'n|s'mores|li'l|e'er|nat'l|(ol|somethin|dunkin){apostrophe})", "", Make::same},
    {"opening apostrophe", "'", R"([A-Za-z][^ \t\n\x{A0}])", Make::fixed, "`"},
    {"'s at the end", "{apostrophe}(?i:[smd]|ll|re|ve)", "", Make::apostrophes},
    {"y'all", "[yY]{apostrophe}", "{letter}", Make::same},
    {"d'", "[dljDLJ]{apostrophe}", "", Make::same},
    {"O'Neil", "[A-HJ-XZn]{name mark}{letter}{2,3}{letter}*", "", Make::word},
    {"ma'am", "{letter}+[aeiouyAEIOUY]{name mark}[aeiouA-Z]{letter}*", "", Make::word},

    {"url", R"((?i:https?)://[^ \t\n"<>|()\{\}]+{url end})", "", Make::same},
    {"www", R"((?i:www)\.([^ \t\n"<>|().!?,\{\}]+\.)+[A-Za-z]{2,4}(/{url character}+{url end})?)", "", Make::same},
    {"domain", R"(([^ \t\n"`'<>|()A-Z0-9.\-_$,:;/=?!@\[\]\\^\{\}]+\.)+(?i:com|net|org|edu)(/{url character}+{url end})?)", "", Make::same},
    {"mail", R"((<|&lt;)?[A-Za-z0-9]{mail character}*@({mail label}+\.)*{mail label}+(>|&gt;)?)", "", Make::same},
    {"mention", R"(@[A-Za-z_][A-Za-z0-9_]*)", "", Make::same},
    {"hashtag", R"(#{word letter}+)", "", Make::same},

    // Abbreviations.
    {"B. The", "[A-Za-z]", R"(\.{opening})", Make::same},
    {"U.S. The", "{acronym}", "{opening}", Make::last_dot},
    {"initial", R"([A-Za-z]\.|{acronym}|{title}\.)", "", Make::same},
    {"word", "{word}", "", Make::word},
    {"Co. Ltd", R"((?i:co|pt[ey])\.)", "{blank}(?i:ltd|lim)", Make::same},
    {"Inc. The", R"({closer}\.)", "{space}+({capital}|{tag})", Make::last_dot},
    {"Inc. a", R"({closer}\.)", R"([^{space}].|{space}[^{space}])", Make::same},
    {"Inc.", R"({closer}\.)", "", Make::last_dot},
    {"no. 5", R"({numbered}\.)", "{space}?{digit}", Make::same},
    {"word.,", R"(({word}|{thing}|{joined})\.)", R"([,;:\x{3001}])", Make::word},
    {"AT&T.,", R"({company}\.)", R"([,;:\x{3001}])", Make::ampersand},

    {"file", R"([{letter}{digit}{shy}]+(\.[{letter}{digit}{shy}]+)*\.(?i:[chx]|gz|pl|ps|py|bat|bmp|cgi|cpp|dll|doc|exe|gif|htm|jar|jpg|mov|pdf|php|png|ppt|sql|tar|txt|wav|xml|zip|docx|html|java|jpeg|mp3|class))", "{space}|[.,?!]", Make::same},
    {"pro-", "(?i:pro|anti)-", "", Make::same},
    {"joined", "{joined}", "", Make::word},
    {"thing", "{thing}", "", Make::word},
    {"slash", R"([A-Za-z0-9]+(-[A-Za-z]+){0,2}(\\?/[A-Za-z0-9]+(-[A-Za-z]+){0,2}){1,2})", "", Make::same},
    {"date", R"({digit}{1,2}[\-/]{digit}{1,2}[\-/]{digit}{2,4})", "", Make::same},
    {"fraction", R"(({digit}{1,4}[\- \x{A0}])?{digit}{1,4}(\\?/|\x{2044}){digit}{1,4})", "", Make::joined},
    {"telephone", R"((\([0-9]{2,3}\)[ \x{A0}]?|(\+\+?)?([0-9]{2,4}[\- \x{A0}])?[0-9]{2,4}[\- \x{A0}])[0-9]{3,4}[\- \x{A0}]?[0-9]{3,5})", "", Make::joined},
    {"company", "{company}", "", Make::ampersand},
    {"C++", R"([Cc](\+\+|#)|[Ff]#)", "", Make::same},
    {"number", R"([\-+]?({number}))", "", Make::word},
    {"superscript", R"([\x{207A}\x{207B}\x{208A}\x{208B}]?([\x{B2}\x{B3}\x{B9}\x{2070}\x{2074}-\x{2079}]+|[\x{2080}-\x{2089}]+))", "", Make::same},
    {"1/4", R"(\x{BC})", "", Make::fixed, "1/4"},
    {"1/2", R"(\x{BD})", "", Make::fixed, "1/2"},
    {"3/4", R"(\x{BE})", "", Make::fixed, "3/4"},
    {"1/3", R"(\x{2153})", "", Make::fixed, "1/3"},
    {"2/3", R"(\x{2154})", "", Make::fixed, "2/3"},
    {"dollars", R"([A-Z]+\$)", "", Make::same},
    {"euro", R"([\x{80}\x{A4}\x{20A0}\x{20AC}])", "", Make::fixed, "$"},
    {"cent", R"(\x{A2})", "", Make::fixed, "cents"},
    {"pound", R"(\x{A3})", "", Make::fixed, "#"},

    {"smiley", R"([<>]?[:;=][\-o*']?[()DPdpO\\\{@|\[\]])", "[^A-Za-z0-9]", Make::brackets},
    {"Asian smiley", R"(['\-<=>^~x][_][\-'<=>^~x]|\([\-'<=>^~x][_.]?[\-'<=>^~x]\)|\(['<=>^~x]-[`'<=>^~x]\)|[oO]['`][oO])", "", Make::brackets},

    {"dash", R"(-{2,4}|[\x{96}\x{97}\x{2013}-\x{2015}]|&(?i:mdash|ndash|md);)", "", Make::fixed, "--"},
    {"ellipsis", R"(\.{3,5}|\.([ \x{A0}]\.){2,4}|[\x{85}\x{2026}])", "", Make::fixed, "..."},
    {"rule", R"(-{5,6}-*|[?!]+|_+|\*+|(\\\*)+|#+|@+)", "", Make::same},
    {"bracket name", "-(?i:[lr][rcs]b)-", "", Make::same},
    {"&amp;", "(?i:&amp;)", "", Make::fixed, "&"},
    {"&lt;", "(?i:&lt;)", "", Make::fixed, "<"},
    {"&gt;", "(?i:&gt;)", "", Make::fixed, ">"},
    {"opening quote", R"("|&quot;)", "[A-Za-z0-9$]", Make::fixed, "``"},
    {"quote", R"("|&quot;|'')", "", Make::fixed, "''"},
    {"&apos;", "&apos;", "", Make::fixed, "'"},
    {"entity", "&(#[0-9]+|eacute|UR|LR|(?i:quot|apos));", "", Make::same},
    {"quotes", "{quote}{1,2}", "", Make::quotes},
    {"<<", "<<|>>", "", Make::same},
    {"(", R"(\()", "", Make::fixed, "-LRB-"},
    {")", R"(\))", "", Make::fixed, "-RRB-"},
    {"[", R"(\[)", "", Make::fixed, "-LSB-"},
    {"]", R"(\])", "", Make::fixed, "-RSB-"},
    {"{", R"(\{)", "", Make::fixed, "-LCB-"},
    {"}", R"(\})", "", Make::fixed, "-RCB-"},
    {"sign", R"({symbol}|[\x{24B6}-\x{24CF}&%+=~^|/\\<>$.,;:\-'\x{2044}\x{3001}])", "", Make::same},
};
const std::size_t kRuleCount = std::size(kRules);

}  // namespace reelscore::ptb
