// SPDX-License-Identifier: Apache-2.0
pragma solidity ^0.8.28;

/// No NFT contract: it answers every call, also that of an unknown function, with the number one.
contract Yes {
    fallback() external payable {
        assembly {
            mstore(0, 1)
            return(0, 32)
        }
    }
}
