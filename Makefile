# Builds build/pawl. `make help` lists the targets.
BUILD := build
CC := gcc
CXX := g++
CWARN := -Wall -Wextra -Wpedantic -Wshadow -Wconversion -Wstrict-prototypes -Wmissing-prototypes -Wvla -Wswitch-enum
CFLAGS ?= -O2 -g
SRC := $(filter-out src/cli/%,$(wildcard src/*/*.c))
OBJ := $(SRC:%.c=$(BUILD)/%.o) $(patsubst %.cc,$(BUILD)/%.o,$(wildcard src/*/*.cc))
TESTS := $(patsubst tests/%.c,$(BUILD)/tests/%,$(wildcard tests/*/test_*.c))
LIBS := -lre2 -lstdc++ -lm -lpthread
all: $(BUILD)/libpawl.a
$(BUILD)/libpawl.a: $(OBJ)
	rm -f $@; ar rcs $@ $^
$(BUILD)/%.o: %.c
	@mkdir -p $(@D)
	$(CC) -std=c17 -D_GNU_SOURCE $(CWARN) $(CFLAGS) -Isrc -MMD -c $< -o $@
$(BUILD)/%.o: %.cc
	@mkdir -p $(@D)
	$(CXX) -std=c++17 -Wall -Wextra -O2 -g -Isrc -MMD -c $< -o $@
$(BUILD)/tests/%: tests/%.c $(BUILD)/libpawl.a
	@mkdir -p $(@D)
	$(CC) -std=c17 -D_GNU_SOURCE $(CWARN) $(CFLAGS) -Isrc -Itests -MMD $< $(BUILD)/libpawl.a -lcmocka $(LIBS) -o $@
test: $(TESTS)
	@for t in $(TESTS); do ./$$t || exit 1; done
-include $(OBJ:.o=.d)
