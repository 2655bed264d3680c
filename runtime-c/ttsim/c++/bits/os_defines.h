/* No operating system. */
#pragma once
