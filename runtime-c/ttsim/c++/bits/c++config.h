/* The host's configuration of libstdc++, without threads. */
#include_next <bits/c++config.h>
#undef _GLIBCXX_HAS_GTHREADS
#undef _GLIBCXX_HAVE_LINUX_FUTEX
#undef _GLIBCXX_HAVE_TLS
#undef _GLIBCXX_USE_WCHAR_T
