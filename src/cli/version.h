/* version.h - the one place that names the version. */
#ifndef PAWL_CLI_VERSION_H
#define PAWL_CLI_VERSION_H

#define PAWL_VERSION "0.2.0"

#endif
