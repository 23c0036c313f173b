/*
 * fold.h - letters without their case, for searching: Latin, Greek and Cyrillic, the same
 * on every machine and in every database, whatever the locale.
 *
 * The two lists are for SQL: each capital stands where its small letter stands in the
 * other. They hold the letters that fold_copy() changes, and no others.
 */
#ifndef PAWL_BASE_TEXT_FOLD_H
#define PAWL_BASE_TEXT_FOLD_H

#include "base/arena.h"
#include "base/str.h"

/* The small letter of a capital; any other code point as it is. */
uint32_t fold_code_point(uint32_t c);

/* Make small letters of the capitals in valid UTF-8, which stays as long as it is. */
void fold_in_place(char *text, size_t len);

/* A copy of valid UTF-8 in small letters; it is as long as the text, to the byte. */
struct str fold_copy(struct arena *mem, struct str text);

/* clang-format off */
#define FOLD_CAPITALS \
    "ABCDEFGHIJKLMNOPQRSTUVWXYZÀÁÂÃÄÅÆÇÈÉÊËÌÍÎÏÐÑÒÓÔÕÖØÙÚÛÜÝÞĀĂĄĆ" \
    "ĈĊČĎĐĒĔĖĘĚĜĞĠĢĤĦĨĪĬĮĲĴĶĹĻĽĿŁŃŅŇŊŌŎŐŒŔŖŘŚŜŞŠŢŤŦŨŪŬŮŰŲŴŶŸŹŻŽΆΈ" \
    "ΉΊΌΎΏΑΒΓΔΕΖΗΘΙΚΛΜΝΞΟΠΡΣΤΥΦΧΨΩΪΫЀЁЂЃЄЅІЇЈЉЊЋЌЍЎЏАБВГДЕЖЗИЙКЛМ" \
    "НОПРСТУФХЦЧШЩЪЫЬЭЮЯѠѢѤѦѨѪѬѮѰѲѴѶѸѺѼѾҀҊҌҎҐҒҔҖҘҚҜҞҠҢҤҦҨҪҬҮҰҲҴҶҸ" \
    "ҺҼҾӁӃӅӇӉӋӍӐӒӔӖӘӚӜӞӠӢӤӦӨӪӬӮӰӲӴӶӸӺӼӾԀԂԄԆԈԊԌԎԐԒԔԖԘԚԜԞԠԢԤԦԨԪԬԮ"
#define FOLD_SMALL \
    "abcdefghijklmnopqrstuvwxyzàáâãäåæçèéêëìíîïðñòóôõöøùúûüýþāăąć" \
    "ĉċčďđēĕėęěĝğġģĥħĩīĭįĳĵķĺļľŀłńņňŋōŏőœŕŗřśŝşšţťŧũūŭůűųŵŷÿźżžάέ" \
    "ήίόύώαβγδεζηθικλμνξοπρστυφχψωϊϋѐёђѓєѕіїјљњћќѝўџабвгдежзийклм" \
    "нопрстуфхцчшщъыьэюяѡѣѥѧѩѫѭѯѱѳѵѷѹѻѽѿҁҋҍҏґғҕҗҙқҝҟҡңҥҧҩҫҭүұҳҵҷҹ" \
    "һҽҿӂӄӆӈӊӌӎӑӓӕӗәӛӝӟӡӣӥӧөӫӭӯӱӳӵӷӹӻӽӿԁԃԅԇԉԋԍԏԑԓԕԗԙԛԝԟԡԣԥԧԩԫԭԯ"
/* clang-format on */

#endif
