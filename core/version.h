#ifndef CORE_VERSION_H
#define CORE_VERSION_H

/* The one place that knows the version. */
#define VERSION "0.1.0"

#endif
