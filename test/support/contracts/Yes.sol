// SPDX-License-Identifier: Apache-2.0
pragma solidity ^0.8.28;

/// A contract that takes every call and does nothing.
contract Yes {
    fallback() external {}
}
