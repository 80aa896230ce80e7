# make help lists the targets. V=1 shows commands. MODE= and CC= pick a build, each in its own tree.
PROG    := assay
MODE    ?= release
WERROR  ?= 0
PREFIX  ?= /usr/local
DESTDIR ?=
SUBJECT ?=
# real files of other people's models, for tests that skip when they are absent
CORPUS  ?= ../shared/corpus
# conformance files beyond those in tests/vectors
GOLDEN  ?= ../shared/golden
PKGS    := libcrypto sqlite3 libcjson
PAPI    ?= $(shell pkg-config --exists papi 2>/dev/null && echo 1 || echo 0)
B       := build/$(MODE)-$(notdir $(firstword $(CC)))

# --- flags: ours first, the user's CFLAGS last, so that the user can undo any
WARN := -Wall -Wextra -Wpedantic -Wshadow -Wconversion -Wstrict-prototypes -Wmissing-prototypes \
        -Wvla -Wundef -Wwrite-strings -Wformat=2 -Wimplicit-fallthrough -Wcast-qual -Wpointer-arith
ifeq ($(WERROR),1)
WARN += -Werror
endif
MODE_release := -O2 -g
MODE_debug   := -O0 -g3
MODE_asan    := -O1 -g -fno-omit-frame-pointer -fsanitize=address,undefined -fno-sanitize-recover=all
MODE_tsan    := -O1 -g -fsanitize=thread
MODE_cov     := -O0 -g --coverage
ifndef MODE_$(MODE)
$(error MODE=$(MODE) is unknown: release, debug, asan, tsan or cov)
endif
CPPFLAGS_ALL := -I. -I$(B) -D_GNU_SOURCE -DHAVE_PAPI=$(PAPI) \
                $(shell pkg-config --cflags $(PKGS) 2>/dev/null) $(CPPFLAGS)
CFLAGS_ALL := -std=c17 -ffp-contract=off $(WARN) $(MODE_$(MODE)) $(CFLAGS)
LIBS := $(shell pkg-config --libs $(PKGS) 2>/dev/null) -lm -pthread $(LDLIBS)
ifeq ($(PAPI),1)
LIBS += $(shell pkg-config --libs papi)
endif

# --- sources: everything in a folder is built; only audit/main.c has main()
FOLDERS := core model fingerprint stress probes db report audit
SRC     := $(foreach d,$(FOLDERS),$(sort $(wildcard $d/*.c)))
ifneq ($(shell uname -m),x86_64)
SRC     := $(filter-out %_avx2.c %_avx512.c,$(SRC))
endif
LIBOBJ  := $(patsubst %.c,$(B)/%.o,$(filter-out audit/main.c,$(SRC)))
LIB     := $(B)/lib$(PROG).a
UNIT    := $(patsubst %.c,$(B)/%,$(sort $(wildcard tests/unit/test_*.c)))
KCHECK  := $(patsubst %.c,$(B)/%,$(wildcard tests/kernels/kcheck.c))
FUZZ    := $(patsubst %.c,$(B)/%,$(sort $(wildcard tests/fuzz/fuzz_*.c)))
EMBED   := $(wildcard db/*.sql probes/*.csv audit/*.json report/*.css)
# a build takes all processors unless make was told how many
JOBS     = $(if $(findstring -j,$(MAKEFLAGS)),,-j$(shell nproc 2>/dev/null || echo 1))
.SECONDARY:
.DELETE_ON_ERROR:

Q = @$(if $(filter 1,$(V)),,printf '  %-6s%s\n' $(1) $@;)

all: $(B)/$(PROG)                     ## build the program: build/release-cc/assay
$(B)/$(PROG): $(B)/audit/main.o $(LIB)
	$(call Q,LD)$(CC) $(CFLAGS_ALL) $(LDFLAGS) -o $@ $^ $(LIBS)
$(LIB): $(LIBOBJ)
	$(call Q,AR)rm -f $@; $(AR) rcs $@ $^
ISA_avx2   := -mavx2 -mfma -mf16c
ISA_avx512 := -mavx512f -mavx512bw -mavx512vl -mavx512dq $(ISA_avx2)
%_avx2.o %_avx2.s:     ISA := $(ISA_avx2)
%_avx512.o %_avx512.s: ISA := $(ISA_avx512)
$(B)/%.o: %.c $(B)/flags | $(patsubst %,$(B)/%.inc,$(EMBED))
	@mkdir -p $(@D)
	$(call Q,CC)$(CC) $(CPPFLAGS_ALL) $(CFLAGS_ALL) $(ISA) -MMD -MP -c -o $@ $<
# a data file as the inside of an array initialiser: #include "db/schema.sql.inc"
$(B)/%.inc: %
	@mkdir -p $(@D)
	$(call Q,EMBED)od -An -v -tx1 $< | sed 's/ \(..\)/0x\1,/g' > $@
$(B)/tests/unit/%: $(B)/tests/unit/%.o $(LIB)
	$(call Q,LD)$(CC) $(CFLAGS_ALL) $(LDFLAGS) -o $@ $^ $(LIBS) -lcmocka
$(B)/tests/kernels/%: $(B)/tests/kernels/%.o $(LIB)
	$(call Q,LD)$(CC) $(CFLAGS_ALL) $(LDFLAGS) -o $@ $^ $(LIBS)
$(B)/tests/fuzz/%: $(B)/tests/fuzz/%.o $(B)/tests/fuzz/replay.o $(LIB)
	$(call Q,LD)$(CC) $(CFLAGS_ALL) $(LDFLAGS) -o $@ $^ $(LIBS)
# one stamp a build: everything is built again when a setting that matters changes
$(B)/flags: FORCE
	@mkdir -p $(B); echo '$(CC) $(CPPFLAGS_ALL) $(CFLAGS_ALL) $(LDFLAGS) $(LIBS)' > $@.new; \
	cmp -s $@.new $@ && rm $@.new || mv $@.new $@
-include $(shell find $(B) -name '*.d' 2>/dev/null)

deps:                                 ## install the Debian packages that build and tests miss
	@tests/deps.sh all
audit:                                ## audit SUBJECT= (default: the sample) and say where the report is
	@tests/deps.sh build
	@$(MAKE) --no-print-directory $(JOBS) audit-run
audit-run: all
	@tests/audit.sh $(B)/$(PROG) $(B) '$(SUBJECT)'
check:                                ## every test, the include rules, the symbol rule
	@tests/deps.sh all
	@$(MAKE) --no-print-directory $(JOBS) check-run
check-run: all $(UNIT) $(KCHECK) $(FUZZ)
	@CORPUS='$(CORPUS)' GOLDEN='$(GOLDEN)' MODE=$(MODE) tests/run.sh $(B) $(PROG)
check-asan:                           ## the same under AddressSanitizer and UBSan
	@$(MAKE) --no-print-directory MODE=asan check
check-corpus: all                     ## what inspect makes of every config under CORPUS=DIR
	@CORPUS='$(CORPUS)' tests/check_corpus.sh $(B)/$(PROG)
build-tests: all $(UNIT) $(KCHECK) $(FUZZ)   ## build the tests without running them
bench: all $(KCHECK)                  ## kernel rates: variants against the definition, one run
	@$(B)/$(PROG) kernels bench
layers:                               ## the include rules between folders
	@tests/layers.sh
symbols: $(LIB)                       ## each global symbol starts with its file's stem
	@tests/symbols.sh $(LIB)
format:                               ## clang-format all sources
	@tests/deps.sh style
	@clang-format -i $$(git ls-files '*.[ch]')
tidy: $(patsubst %,$(B)/%.inc,$(EMBED))   ## clang-tidy all sources
	@tests/deps.sh style
	@clang-tidy --quiet $(filter-out %_avx2.c %_avx512.c,$(SRC)) -- $(CPPFLAGS_ALL) -std=c17
	@$(foreach i,avx2 avx512,$(if $(filter %_$i.c,$(SRC)),clang-tidy --quiet \
	$(filter %_$i.c,$(SRC)) -- $(CPPFLAGS_ALL) -std=c17 $(ISA_$i) &&)) true
fuzz:                                 ## libFuzzer on target T= for SECONDS= (clang)
	@tests/deps.sh all
	@tests/fuzz.sh '$(T)' '$(SECONDS)'
asm: $(B)/stress/$(K).s               ## K=attn_avx2: what the compiler made of a kernel
$(B)/%.s: %.c
	$(CC) $(CPPFLAGS_ALL) $(CFLAGS_ALL) $(ISA) -S -o $@ $<
install: all                          ## into DESTDIR/PREFIX/bin
	install -D -m755 $(B)/$(PROG) $(DESTDIR)$(PREFIX)/bin/$(PROG)
uninstall:                            ## remove what install put there
	rm -f $(DESTDIR)$(PREFIX)/bin/$(PROG)
clean:                                ## remove all builds
	rm -rf build
help:                                 ## this list
	@grep -hE '^[a-z-]+:.*##' $(firstword $(MAKEFILE_LIST)) | \
	sed -E 's/^([a-z-]+):.*## */\1\t/' | awk -F'\t' '{ printf "  %-12s %s\n", $$1, $$2 }'
	@echo "  MODE=release|debug|asan|tsan|cov  CC=gcc|clang  V=1  WERROR=1"
FORCE:
.PHONY: all deps audit audit-run check check-run check-asan check-corpus build-tests bench layers symbols \
        format tidy fuzz asm install uninstall clean help FORCE
