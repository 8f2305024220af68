// SPDX-License-Identifier: Apache-2.0
// Owner of the precompiled header.
