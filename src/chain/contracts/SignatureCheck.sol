// SPDX-License-Identifier: Apache-2.0
pragma solidity 0.8.28;

import {IERC1271} from "@openzeppelin/contracts/interfaces/IERC1271.sol";

/// @title Checks the signature of a wallet that is a contract, deployed (ERC-1271) or not yet (ERC-6492)
/// @dev It is never deployed: a node runs its constructor in an `eth_call` without an address, and answers what it returns,
/// a byte that is 1 for a valid signature. What a factory does in between is undone with the call.
contract SignatureCheck {
    bytes32 private constant ERC6492_SUFFIX = 0x6492649264926492649264926492649264926492649264926492649264926492;

    constructor(address wallet, bytes32 hash, bytes memory signature) {
        bool isValid = _check(wallet, hash, signature);
        assembly {
            mstore(0, isValid)
            return(31, 1)
        }
    }

    function _check(address wallet, bytes32 hash, bytes memory signature) private returns (bool) {
        uint256 length = signature.length;
        bytes32 suffix;
        if (length >= 32) {
            assembly {
                suffix := mload(add(signature, length))
            }
        }
        if (suffix != ERC6492_SUFFIX) return _isValid(wallet, hash, signature);
        assembly {
            mstore(signature, sub(length, 32))
        }
        (address factory, bytes memory deploy, bytes memory inner) = abi.decode(signature, (address, bytes, bytes));
        if (wallet.code.length > 0 && _isValid(wallet, hash, inner)) return true;
        (bool isDeployed, ) = factory.call(deploy);
        return isDeployed && _isValid(wallet, hash, inner);
    }

    /// @dev Precompiled contracts have no code, and one of them answers any call with what it was given.
    function _isValid(address wallet, bytes32 hash, bytes memory signature) private view returns (bool) {
        if (wallet.code.length == 0) return false;
        (bool isAnswer, bytes memory answer) = wallet.staticcall(
            abi.encodeCall(IERC1271.isValidSignature, (hash, signature))
        );
        return isAnswer && answer.length == 32 && bytes32(answer) == bytes32(IERC1271.isValidSignature.selector);
    }
}
