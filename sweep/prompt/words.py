"""Short common English words by part of speech: most tokenizers know each as one token."""

from __future__ import annotations


def _words(text: str) -> tuple[str, ...]:
    return tuple(text.split())


NOUNS = _words(
    "time year people way day man thing woman life child world school state family student group country problem hand part "
    "place case week company system program question work government number night point home water room mother area money "
    "story fact month lot right study book eye job word business issue side kind head house service friend father power hour "
    "game line end member law car city community name president team minute idea body information back parent face level "
    "office door health person art war history party result change morning reason research girl guy moment air teacher force "
    "education foot boy age policy music market sense nation plan college interest death experience effect use class control "
    "care field development role effort rate heart drug show leader light voice wife police mind price report decision son "
    "view relationship town road arm difference value building action season society tax director position player record paper "
    "space ground form event official matter center couple site project activity star table need court oil situation cost "
    "industry figure street image phone data picture practice piece land product doctor wall patient worker news test movie "
    "north love support technology step baby computer type film tree source organization hair window culture chance brother "
    "energy period course summer plant opportunity term letter condition choice rule south husband floor campaign material "
    "population call economy hospital church risk fire future bank west sport board subject officer rest behavior performance "
    "top goal bed order author color glass river garden boat stone bird horse winter spring island bridge village kitchen "
    "corner forest mountain valley hill lake ocean storm wind rain snow shadow path gate farm bread milk fruit coffee lamp "
    "engine wheel ship train truck plane ticket station map camera guitar piano song dance poem novel page sentence letter "
    "paint brush ladder hammer knife spoon plate bowl bottle basket box bag coat shirt shoe hat ring clock watch mirror chair "
    "desk sofa carpet candle stove oven roof tower castle temple museum library hotel garage factory mine port beach cliff "
    "desert jungle planet moon cloud sky sun leaf root seed flower rose grass wood metal iron silver gold copper oil salt "
    "sugar butter cheese egg meat fish soup rice potato onion apple orange lemon grape cake dog cat cow sheep pig mouse"
)

VERBS = _words(
    "found gave told asked felt tried left called kept began helped showed heard played ran moved lived held brought wrote "
    "sat stood lost paid met set learned changed led watched followed stopped created spoke read spent grew opened walked won "
    "taught offered remembered considered loved bought served sent built reached raised passed sold decided returned explained "
    "hoped developed carried broke received agreed supported hit produced covered caught drew chose crossed joined turned "
    "visited needed used liked saw took made knew wanted looked pulled pushed shared filled counted measured planned painted"
)

ADJECTIVES = _words(
    "good new first last long great little own other old right big high different small large next early young important few "
    "public bad same able human local sure late hard major better economic strong possible whole free military true federal "
    "international full special easy clear recent certain personal open red difficult available likely short single medical "
    "current wrong private past foreign fine common poor natural significant similar hot dead central happy serious ready "
    "simple left physical general environmental financial blue democratic dark various entire close legal religious cold final "
    "main green nice huge popular traditional cultural quiet warm bright deep wide empty soft heavy calm gentle narrow"
)

ADVERBS = _words(
    "also often soon again never always together already almost later ever slowly quickly finally usually simply clearly "
    "recently certainly probably suddenly nearly rarely perhaps indeed quietly once today still early far"
)

PREPOSITIONS = _words(
    "with from about into over after under between through during before without against near behind across toward"
)

JOINS = _words("and but while because so when until since though although")

DETERMINERS = _words("the this that every each one some another his her their our my")

EVERY = tuple(dict.fromkeys(NOUNS + VERBS + ADJECTIVES + ADVERBS + PREPOSITIONS + JOINS + DETERMINERS))
