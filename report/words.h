#ifndef REPORT_WORDS_H
#define REPORT_WORDS_H
#include "core/fact.h"

/* Values as words for people: unit always, thousands separators, error to two digits. */

#define WORDS_BYTES 160

/* A known fact's value: "27,648 B/token", "1.84 ± 0.02 ms/token", "1.90×"; a text is returned as it
 * is. "unknown" and "none" for the other states; "not recorded" for NULL. Returns ret or f->text.
 */
const char *words_fact(const struct fact *f, char ret[WORDS_BYTES]);

/* x with its error in a unit of the fact table ("ns/token", "bytes", "ratio", "x", ...), scaled
 * where the unit is a time or a rate. error 0: four digits, or exact if x is whole. */
const char *words_real(double x, double error, const char *unit, char ret[WORDS_BYTES]);

/* A ratio as "0.21 %", with its error "1.3 ± 1.5 %"; "unknown" for NaN. */
const char *words_percent(double ratio, double error, char ret[WORDS_BYTES]);

/* Rounded, for axes and sentences: a context length as "128K", bytes as "1.56 TB". What is not a
 * number from 0 to 2^63 is "?". */
const char *words_tokens(double tokens, char ret[WORDS_BYTES]);
const char *words_bytes(double bytes, char ret[WORDS_BYTES]);

/* A backend as its makers write it: "vLLM" for vllm, "SGLang", "TensorRT-LLM" for trtllm, "Ollama";
 * other names as they are. */
const char *words_backend(const char *name, char ret[WORDS_BYTES]);

/* A mixer kind as people write it: "KDA", "MLA", "GQA window"; other words as they are. */
const char *words_kind(const char *kind, char ret[WORDS_BYTES]);

#endif
