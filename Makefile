# Builds Pawl with plain GNU make. `make help` lists the targets.
#
# Every way of compiling the tree is a variant with objects of its own:
#
#   variant   compiler and flags              what it makes
#   release   gcc -O2, hardened               build/pawl, build/sim/*, build/bench/*
#   check     release with slow assertions,   build/tests/pawl-check, and any test program
#             crash points, a moved clock     without sanitizers as build/tests/*
#   asan      clang, address and undefined    build/asan/*: test programs, as `make test` runs them
#   tsan      gcc, thread sanitizer           build/tsan/*
#   cover     gcc --coverage                  build/cover/*
#   fuzz      clang, libFuzzer                build/fuzz/*
#
# `check` takes the objects of release for all files but those in which slow checks make a
# difference. `make lint` wants every file to pass both compilers without a warning, and every
# header to compile alone: gcc's are those of release, clang's those of asan; what a compiler
# makes no object of it only reads (build/lint/*). Objects are made anew when the flags of their
# variant change (build/obj/VARIANT/flags), not when this file does. ccache is used where it is
# installed, unless CCACHE is empty.
#
# Sources are found by their place, so a new file needs no line here:
#
#   src/**/*.c, src/**/*.cc   the library; src/cli/main.c is the program
#   tests/*/test_*.c          a test program each, run by `make test`
#   tests/*/cel_conformance.c a test program that is built and not run here
#   tests/*/json_suite.c      the same
#   tests/kill/fold_check.c   the same; so are crash_points.c and tests/api/route_table.c
#   tests/sim/*.c             the simulator, a program of its own
#   tests/*/*.c otherwise     helpers, linked into the test programs that use them
#   tests/fuzz/fuzz_*.c       a fuzz target each; as build/asan/fuzz_* it runs over files
#   bench/*.c                 a benchmark each; bench/run-* are what `make bench` runs
#   tools/gen_NAME.c          a program whose output becomes build/gen/NAME.h; what it reads
#                             are prerequisites of that, below
#
#   web/                      the web UI, built by npm and linked into build/pawl
#
# The targets below build the web UI; PAWL_UI=none leaves it out and needs no npm. A file that
# is named (`make build/pawl`), as one does while working on C, takes the UI that is built.
#
# CFLAGS, CXXFLAGS and LDFLAGS from the command line are added to those of the
# variant; V=1 shows the commands. Where something is missing, scripts/setup
# installs it.

.DEFAULT_GOAL := all
.DELETE_ON_ERROR:
.SUFFIXES:
MAKEFLAGS += --no-builtin-rules

BUILD := build
FUZZ_SECONDS ?= 60
SIM_SECONDS ?= 60
JOBS ?= $(shell nproc)
WERROR ?= -Werror
CCACHE ?= $(shell command -v ccache)
PREFIX ?= /usr/local
Q := $(if $(V),,@)

# Whether the web UI is wanted, and whether it is linked: see above.
UI_WANTED := $(or $(PAWL_UI),web)
PAWL_UI ?= $(if $(wildcard $(BUILD)/ui/files.o),web,none)
ifeq ($(filter web none,$(PAWL_UI)),)
$(error PAWL_UI is web or none)
endif

# Targets that call scripts/setup build in a make of their own, which starts
# after it, and in parallel unless -j says how.
BUILD_WITH = $(MAKE) --no-print-directory PAWL_UI=$(UI_WANTED) $(if $(findstring -j,$(MAKEFLAGS)),,-j$(JOBS) -Otarget)
# For who only uses Pawl: a warning of a compiler that is not Debian's is no error.
BUILD_FOR_USE = $(BUILD_WITH) WERROR=

# --- sources ---

MAIN := src/cli/main.c
LIB_SOURCES := $(filter-out $(MAIN),$(wildcard src/*/*.c src/*/*/*.c src/*/*/*.cc))
TEST_SOURCES := $(wildcard tests/*/test_*.c tests/*/cel_conformance.c tests/*/json_suite.c) \
    $(wildcard tests/kill/fold_check.c tests/kill/crash_points.c tests/api/route_table.c)
FUZZ_SOURCES := $(wildcard tests/fuzz/fuzz_*.c)
SIM_SOURCES := $(wildcard tests/sim/*.c) tests/engine/dump.c
HELPER_SOURCES := $(filter-out $(TEST_SOURCES) $(FUZZ_SOURCES) tests/sim/%,$(wildcard tests/*/*.c))
BENCH_SOURCES := $(wildcard bench/*.c)
SERVICE_SOURCES := $(wildcard examples/orders/services/*.c)
SERVICES := $(BUILD)/orders/inventory $(BUILD)/orders/payment
TEST_SCRIPTS := $(wildcard tests/*/test_*.sh tests/*/test_*.mjs)
GENERATED := $(patsubst tools/gen_%.c,$(BUILD)/gen/%.h,$(wildcard tools/gen_*.c))

TEST_NAMES := $(basename $(notdir $(TEST_SOURCES)))
TESTS := $(filter test_%,$(TEST_NAMES))
# Test programs run under sanitizers; those that measure memory or time run without, in
# `make test-full` all of them as well. Scripts of tests call what is no test.
MEASURED := $(basename $(notdir $(shell grep -lE 'mallinfo2|took_us' $(TEST_SOURCES))))
CALLED := $(filter-out $(TESTS),$(TEST_NAMES)) test_conformance_engine
PLAIN := $(if $(PAWL_TEST_FULL),$(TESTS),$(MEASURED))
SANITIZED := $(filter-out $(MEASURED),$(TESTS))

# How `make test` builds, beside the scripts, what they do not call. A recipe that names the make
# program itself would run under `make -n`, too.
BESIDE = MAKEFLAGS= $(MAKE) --no-print-directory PAWL_UI=$(UI_WANTED) -j$(JOBS) -Otarget sanitized-programs lint-objects

# Files that slow checks change: they have some, or include a header whose declarations differ.
SLOW_HEADERS := $(filter-out base/attr.h,$(patsubst src/%,%,$(shell grep -rl --include='*.h' PAWL_SLOW_CHECKS src)))
SLOW_SOURCES := $(shell grep -rlE --include='*.c' \
    -e 'PAWL_SLOW_CHECKS|ASSERT_SLOW|CRASH_POINT' $(patsubst %,-e '"%"',$(SLOW_HEADERS)) src)
ifneq ($(words $(TEST_NAMES)),$(words $(sort $(TEST_NAMES))))
$(error two test files have the same name; test programs share one folder)
endif

# --- flags ---

WARNINGS := -Wall -Wextra -Wpedantic -Wshadow -Wconversion -Wvla -Wswitch-enum -Wformat-security
WARNINGS_C := $(WARNINGS) -Wstrict-prototypes -Wmissing-prototypes
WARNINGS_CXX := -Wall -Wextra -Wpedantic -Wshadow
INCLUDES := -Isrc -I$(BUILD)/gen
COMMON = -g -fno-omit-frame-pointer -D_GNU_SOURCE $(INCLUDES)
C_FLAGS = -std=c17 $(COMMON) $(WARNINGS_C)
CXX_FLAGS = -std=c++17 $(COMMON) $(WARNINGS_CXX)

# Linking a test program with lld takes a third of the time.
LLD := $(if $(shell command -v ld.lld),-fuse-ld=lld)

CC_release := gcc
CXX_release := g++
FLAGS_release := -O2 -fstack-protector-strong -D_FORTIFY_SOURCE=2 -fPIE
LINK_release := -pie -Wl,-z,relro,-z,now

CC_check := gcc
CXX_check := g++
FLAGS_check := -O1 -g1 -fPIE -DPAWL_SLOW_CHECKS
LINK_check := -pie $(LLD)

# Test programs are short: compiling them takes longer than running them.
CC_asan := clang
CXX_asan := clang++
FLAGS_asan := -O0 -g1 -DPAWL_SLOW_CHECKS -fsanitize=address,undefined -fno-sanitize-recover=undefined
LINK_asan := $(LLD)

CC_tsan := gcc
CXX_tsan := g++
FLAGS_tsan := -O1 -DPAWL_SLOW_CHECKS -fsanitize=thread
LINK_tsan := $(LLD)

CC_cover := gcc
CXX_cover := g++
FLAGS_cover := -O0 -DPAWL_SLOW_CHECKS --coverage

CC_fuzz := clang
CXX_fuzz := clang++
FLAGS_fuzz := -O1 -DPAWL_SLOW_CHECKS -fsanitize=fuzzer-no-link,address,undefined \
    -fno-sanitize-recover=undefined

# Only what is used ends up in the binary's list of libraries.
LIBS := -Wl,--as-needed -lcurl -lssl -lcrypto -lsqlite3 -lpq -lre2 -lyaml -lrabbitmq -lstdc++ -lm -lpthread
TEST_LIBS := -Wl,--as-needed -lcmocka -ljansson $(LIBS)
BENCH_LIBS := -Wl,--as-needed -ljansson $(LIBS)

# --- targets ---

all: ## build build/pawl (the default)
	@PAWL_UI=$(UI_WANTED) scripts/setup build
	+@$(BUILD_FOR_USE) $(BUILD)/pawl

run: all ## build, start a server, load the examples, say what to try
	@scripts/run $(BUILD)/pawl

crash: all ## kill a server with -9 in the middle of its work, and watch it go on
	@scripts/crash $(BUILD)/pawl

demo-orders: all ## the order saga with its services: every way it can end, over real HTTP
	@scripts/setup test
	+@$(BUILD_FOR_USE) $(SERVICES)
	@BUILD=$(BUILD) node examples/orders/demo.mjs

demo-workers: all ## workers in Python, Go, TypeScript and C share the jobs of one server
	@scripts/setup test
	@node clients/demo/demo.mjs

tour: all ## build, then a guided tour of the expression language
	@scripts/tour $(BUILD)/pawl

test: ## build and run every test, sanitizers and lint included; ends with "N passed, N failed"
	@scripts/setup test
	@scripts/setup lint
	+@$(BUILD_WITH) called-programs
	@PAWL=$(BUILD)/pawl BUILD_BESIDE='$(BESIDE)' \
	    scripts/run-tests $(TEST_SCRIPTS) $(addprefix $(BUILD)/tests/,$(PLAIN)) \
	    $(addprefix $(BUILD)/asan/,$(SANITIZED))

test-full: ## the same with thousands of kills and clang-tidy; takes an hour or more
	+@PAWL_TEST_FULL=1 TEST_TIMEOUT_S=14400 $(MAKE) --no-print-directory test

# What scripts call is built first; the programs with sanitizers, and what only the compilers
# read, while the scripts already run.
called-programs: $(SERVICES) $(BUILD)/pawl $(BUILD)/tests/pawl-check $(BUILD)/sim/pawl-sim $(addprefix $(BUILD)/tests/,$(CALLED))

sanitized-programs: $(patsubst tests/fuzz/%.c,$(BUILD)/asan/%,$(FUZZ_SOURCES)) $(BUILD)/asan/pawl-check \
    $(addprefix $(BUILD)/tests/,$(PLAIN)) $(addprefix $(BUILD)/asan/,$(SANITIZED))

asan: ## run the test programs under address and undefined sanitizers
	@scripts/setup test
	+@$(BUILD_WITH) $(addprefix $(BUILD)/asan/,$(TEST_NAMES)) $(BUILD)/asan/pawl-sim
	@SIM=$(BUILD)/asan/pawl-sim scripts/run-tests \
	    $(addprefix $(BUILD)/asan/,$(TESTS)) tests/sim/test_sim.sh

tsan: ## run the test programs under the thread sanitizer
	@scripts/setup test
	+@$(BUILD_WITH) $(addprefix $(BUILD)/tsan/,$(TEST_NAMES))
	@scripts/run-tests $(addprefix $(BUILD)/tsan/,$(TESTS))

cover: ## run the test programs and say which lines they reach
	@scripts/setup test
	@rm -rf $(BUILD)/obj/cover $(BUILD)/cover
	+@$(BUILD_WITH) $(addprefix $(BUILD)/cover/,$(TEST_NAMES))
	@scripts/run-tests $(addprefix $(BUILD)/cover/,$(TESTS))
	@scripts/cover $(BUILD)/obj/cover

fuzz: ## run each fuzz target for FUZZ_SECONDS (60)
	@scripts/setup test
	+@$(BUILD_WITH) $(patsubst tests/fuzz/%.c,$(BUILD)/fuzz/%,$(FUZZ_SOURCES))
	@scripts/run-fuzz $(FUZZ_SECONDS) $(patsubst tests/fuzz/%.c,$(BUILD)/fuzz/%,$(FUZZ_SOURCES))

sim: ## run the simulator for SIM_SECONDS (60) over growing seeds
	@PAWL_UI=$(UI_WANTED) scripts/setup build
	+@$(BUILD_FOR_USE) $(BUILD)/sim/pawl-sim
	@$(BUILD)/sim/pawl-sim --seconds $(SIM_SECONDS)

bench: ## run the benchmarks
	@scripts/setup test
	+@$(BUILD_FOR_USE) $(patsubst bench/%.c,$(BUILD)/bench/%,$(BENCH_SOURCES))
	@for run in bench/run-*; do echo "--- $$run"; $$run || exit 1; done

screenshots: all ## draw every screen of the web UI into build/ui-pictures
	@scripts/setup test
	@node tests/ui/screenshots.mjs

lint: ## compile with both compilers and -Werror, then check format, folders and code
	@scripts/setup lint
	+@$(BUILD_WITH) lint-objects
	@scripts/lint

fmt: ## format every C file in place
	@scripts/setup lint
	@scripts/format

install: ## copy the built program into PREFIX (/usr/local), below DESTDIR
	+@test -x $(BUILD)/pawl || $(MAKE) --no-print-directory all
	@PREFIX="$(PREFIX)" DESTDIR="$(DESTDIR)" scripts/install $(BUILD)/pawl

package: all ## build build/pawl_VERSION_ARCH.deb and .tar.gz
	@scripts/package $(BUILD)/pawl $(BUILD)

clean: ## remove everything that was built
	rm -rf $(BUILD)

help: ## this list
	@awk -F ':.*## ' '/^[a-z-]+:.*## / { printf "  make %-12s %s\n", $$1, $$2 }' $(MAKEFILE_LIST)

# Everything that `make test` builds, to see that it compiles.
test-programs: called-programs sanitized-programs lint-objects

.PHONY: all screenshots run crash demo-orders demo-workers tour test test-full test-programs called-programs sanitized-programs asan tsan cover fuzz sim bench lint lint-objects \
    fmt install package clean help

# --- rules ---

objects = $(patsubst %,$(BUILD)/obj/$(1)/%.o,$(basename $(2)))

-include $(wildcard $(BUILD)/gen/*.d)

# The generators and what they write: before anything that may include it.
$(BUILD)/gen/%.h: $(BUILD)/gen/gen_%
	@echo "  GEN      $@"
	$(Q)$^ > $@

# What a generator reads is its argument.
$(BUILD)/gen/openapi.h: docs/openapi.yaml
$(BUILD)/gen/docs.h: $(patsubst %,docs/%.md,tour definitions scenarios schemas triggers expressions testing \
    executions dead-letters people workers messages records schedules cookbook reference)

.PRECIOUS: $(BUILD)/gen/gen_% $(BUILD)/gen/%.h
$(BUILD)/gen/gen_%: tools/gen_%.c Makefile
	@mkdir -p $(@D)
	$(Q)gcc $(C_FLAGS) $(FLAGS_release) -MMD $< -o $@ -lm

# The objects of the library; those of `check` are release's where slow checks change nothing.
library = $(if $(filter check,$(1)),$(call objects,check,$(filter $(SLOW_SOURCES),$(LIB_SOURCES))) \
    $(call objects,release,$(filter-out $(SLOW_SOURCES),$(LIB_SOURCES))),$(call objects,$(1),$(LIB_SOURCES)))

# $(call VARIANT,name): how to compile one file, the library, and the helpers of the tests.
define VARIANT
$(BUILD)/obj/$(1)/tests/%.o: private INCLUDES += -Itests

# Written anew only when it says something else.
$(BUILD)/obj/$(1)/flags: FORCE
	@mkdir -p $$(@D)
	@echo '$(CC_$(1)) $(CXX_$(1)) $$(C_FLAGS) $$(CXX_FLAGS) $(FLAGS_$(1)) $(LINK_$(1)) $$(CFLAGS) $$(CXXFLAGS) $$(LDFLAGS)' >$$@.new
	@cmp -s $$@.new $$@ && rm $$@.new || mv $$@.new $$@

$(BUILD)/obj/$(1)/%.o: %.c $(BUILD)/obj/$(1)/flags | $(GENERATED)
	@mkdir -p $$(@D)
	@echo "  CC       $$<"
	$(Q)$(CCACHE) $(CC_$(1)) $$(C_FLAGS) $(FLAGS_$(1)) $(WERROR) $$(CFLAGS) -MMD -MP -c $$< -o $$@

$(BUILD)/obj/$(1)/%.o: %.cc $(BUILD)/obj/$(1)/flags | $(GENERATED)
	@mkdir -p $$(@D)
	@echo "  CXX      $$<"
	$(Q)$(CCACHE) $(CXX_$(1)) $$(CXX_FLAGS) $(FLAGS_$(1)) $(WERROR) $$(CXXFLAGS) -MMD -MP -c $$< -o $$@

$(BUILD)/obj/$(1)/libpawl.a: $(call library,$(1))
	@rm -f $$@
	$(Q)ar rcs $$@ $$^

$(BUILD)/obj/$(1)/libhelpers.a: $(call objects,$(1),$(HELPER_SOURCES))
	@rm -f $$@
	$(Q)ar rcs $$@ $$^

-include $(patsubst %.o,%.d,$(call objects,$(1),$(LIB_SOURCES) $(MAIN) $(HELPER_SOURCES) \
    $(TEST_SOURCES) $(FUZZ_SOURCES) $(BENCH_SOURCES) $(SIM_SOURCES) $(SERVICE_SOURCES)))
endef

FORCE:
$(foreach v,release check asan tsan cover fuzz,$(eval $(call VARIANT,$(v))))

# The web UI as an object. What it includes by `.incbin` is written with files.c.
WEB_FILES := $(shell find web -name node_modules -prune -o -type f -print)

# The types of the API, for the compiler that checks the pages.
$(BUILD)/gen/api.d.ts: docs/openapi.yaml web/scripts/types.mjs | $(BUILD)/gen/gen_openapi
	$(Q)$(BUILD)/gen/gen_openapi --json docs/openapi.yaml | node web/scripts/types.mjs > $@.new && mv $@.new $@

$(BUILD)/ui/files.c: $(WEB_FILES) scripts/ui | $(BUILD)/gen/api.d.ts
	$(Q)scripts/ui $(BUILD)/ui

$(BUILD)/ui/files.o: $(BUILD)/ui/files.c src/api/serve/ui.h
	$(Q)gcc $(C_FLAGS) $(FLAGS_release) -c $(BUILD)/ui/files.c -o $(BUILD)/ui/table.o
	$(Q)gcc -c $(BUILD)/ui/files.S -o $(BUILD)/ui/bytes.o
	$(Q)ld -r $(BUILD)/ui/table.o $(BUILD)/ui/bytes.o -o $@

# $(call PROGRAM,variant,path of the program,its source,libraries,objects): how to link one.
# Objects stand before the library, so that what they define is not taken from it.
define PROGRAM
$(2): $(call objects,$(1),$(3)) $(5) $(if $(filter tests/%,$(3)),$(BUILD)/obj/$(1)/libhelpers.a) \
    $(BUILD)/obj/$(1)/libpawl.a
	@mkdir -p $$(@D)
	@echo "  LINK     $$@"
	$(Q)$(CC_$(1)) $(FLAGS_$(1)) $(LINK_$(1)) $$(LDFLAGS) $$(filter %.o %.a,$$^) $(4) -o $$@
endef

$(eval $(call PROGRAM,release,$(BUILD)/pawl,$(MAIN),$(LIBS),$(if $(filter web,$(PAWL_UI)),$(BUILD)/ui/files.o)))
# With the web UI or without: the other choice links it anew.
$(BUILD)/pawl: $(BUILD)/ui.$(PAWL_UI)
$(BUILD)/ui.web $(BUILD)/ui.none:
	@mkdir -p $(@D)
	@rm -f $(BUILD)/ui.web $(BUILD)/ui.none
	@touch $@

# The server that tests kill: with crash points, and a clock that they move.
$(eval $(call PROGRAM,check,$(BUILD)/tests/pawl-check,$(MAIN),$(LIBS)))
$(eval $(call PROGRAM,asan,$(BUILD)/asan/pawl-check,$(MAIN),$(LIBS)))
$(eval $(call PROGRAM,tsan,$(BUILD)/tsan/pawl-check,$(MAIN),$(LIBS)))

$(foreach b,$(BENCH_SOURCES),$(eval \
    $(call PROGRAM,release,$(b:%.c=$(BUILD)/%),$(b),$(BENCH_LIBS))))

$(foreach v,check:tests asan:asan tsan:tsan cover:cover,$(foreach t,$(TEST_SOURCES),$(eval \
    $(call PROGRAM,$(firstword $(subst :, ,$(v))),$(BUILD)/$(lastword $(subst :, \
    ,$(v)))/$(basename $(notdir $(t))),$(t),$(TEST_LIBS)))))

$(foreach f,$(FUZZ_SOURCES),$(eval $(call PROGRAM,fuzz,$(f:tests/fuzz/%.c=$(BUILD)/fuzz/%),$(f), \
    -fsanitize=fuzzer $(TEST_LIBS))))

# The same without libFuzzer, for the inputs that are kept: tests/fuzz/test_corpus.sh.
$(foreach f,$(FUZZ_SOURCES),$(eval $(call PROGRAM,asan,$(f:tests/fuzz/%.c=$(BUILD)/asan/%),$(f), \
    $(TEST_LIBS),$(call objects,asan,tests/fuzz/replay/replay.c))))

# The services of examples/orders: programs of their own, with nothing of Pawl in them.
$(SERVICES): $(BUILD)/orders/%: $(BUILD)/obj/release/examples/orders/services/%.o \
    $(BUILD)/obj/release/examples/orders/services/service.o
	@mkdir -p $(@D)
	@echo "  LINK     $@"
	$(Q)$(CC_release) $(FLAGS_release) $(LINK_release) $(LDFLAGS) $^ -lsqlite3 -lpthread -o $@

# The simulator: what it defines itself stands in for the store and the log. Release is
# for speed; asan has the slow checks too.
define SIMULATOR
$(2): $(call objects,$(1),$(SIM_SOURCES)) $(BUILD)/obj/$(1)/libpawl.a
	@mkdir -p $$(@D)
	@echo "  LINK     $$@"
	$(Q)$(CC_$(1)) $(FLAGS_$(1)) $$(LDFLAGS) $$^ $(LIBS) -o $$@
endef

$(eval $(call SIMULATOR,release,$(BUILD)/sim/pawl-sim))
$(eval $(call SIMULATOR,asan,$(BUILD)/asan/pawl-sim))

# What `make lint` compiles: everything, with each compiler. Where that makes no object, the
# compiler only reads; the same holds for headers, each on its own.
define READ
$(BUILD)/lint/$(1)/tests/%.ok: private INCLUDES += -Itests
$(BUILD)/lint/$(1)/%.ok: % $(BUILD)/obj/check/flags | $(GENERATED)
	@mkdir -p $$(@D)
	@echo "  READ     $$<"
	$(Q)$(1) $$(C_FLAGS) -DPAWL_SLOW_CHECKS $(WERROR) $$(CFLAGS) -fsyntax-only -MMD -MP -MT $$@ -MF $$@.d $$<
	@touch $$@
endef
$(foreach c,gcc clang,$(eval $(call READ,$(c))))

# The declaration is for headers that have none, only macros.
$(BUILD)/lint/header/%.ok: % $(BUILD)/obj/check/flags | $(GENERATED)
	@mkdir -p $(@D)
	@echo "  READ     $<"
	$(Q)printf '#include "%s"\nstruct nothing;\n' $(patsubst tests/%,%,$(<:src/%=%)) | \
	    gcc $(C_FLAGS) -Itests $(WERROR) $(CFLAGS) -fsyntax-only -MMD -MP -MT $@ -MF $@.d -x c -
	@touch $@

HEADERS := $(wildcard src/*/*.h src/*/*/*.h src/*/*/*/*.h tests/*/*.h tests/*/*/*.h)
LINT_READ := $(patsubst %,$(BUILD)/lint/gcc/%.ok,$(HELPER_SOURCES) $(TEST_SOURCES) $(FUZZ_SOURCES) $(BENCH_SOURCES)) \
    $(patsubst %,$(BUILD)/lint/clang/%.ok,$(MAIN) $(SIM_SOURCES) $(FUZZ_SOURCES) $(BENCH_SOURCES) $(SERVICE_SOURCES)) \
    $(patsubst %,$(BUILD)/lint/header/%.ok,$(HEADERS))
-include $(patsubst %,%.d,$(LINT_READ))

lint-objects: $(LINT_READ) $(call objects,check,$(SLOW_SOURCES)) \
    $(call objects,release,$(LIB_SOURCES) $(MAIN) $(SIM_SOURCES) $(SERVICE_SOURCES)) \
    $(call objects,asan,$(LIB_SOURCES) $(HELPER_SOURCES) $(TEST_SOURCES))
