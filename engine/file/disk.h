// The disk as the file backend names it: engine/base/disk.h.

#pragma once

#include "engine/base/disk.h"

namespace engine::file {

using engine::Disk;
using engine::Fd;
using engine::SystemDisk;

}  // namespace engine::file
