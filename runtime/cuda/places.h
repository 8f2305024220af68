/* Where the CUDA driver is, and what shows that there is an NVIDIA GPU. Plain C, shared by the
 * compiler and the runtime.
 * SPDX-License-Identifier: Apache-2.0 */
#ifndef CAMEO_RUNTIME_CUDA_PLACES_H
#define CAMEO_RUNTIME_CUDA_PLACES_H

#define CAMEO_CUDA_LIBRARY "libcuda.so.1"

/* Folders of the library that the loader is often not told of. */
static const char *const cameoCudaFolders[] = {
    "/usr/local/nvidia/lib64",                  /* containers of Kubernetes and GKE */
    "/usr/lib/wsl/lib",                         /* Windows' subsystem for Linux */
    "/run/opengl-driver/lib",                   /* NixOS */
    "/usr/lib/x86_64-linux-gnu/nvidia/current", /* Debian */
};

/* Files that are there where an NVIDIA GPU, or the kernel's driver for one, is there. Not /dev/dxg,
 * which Windows' subsystem has for GPUs of every maker. */
static const char *const cameoCudaTraces[] = {
    "/dev/nvidiactl",       "/proc/driver/nvidia/version", "/usr/lib/wsl/lib/nvidia-smi",
    "/dev/nvhost-ctrl-gpu", /* Tegra */
    "/dev/nvgpu",           /* Tegra, from Orin */
};

#endif
