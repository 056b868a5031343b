// SPDX-License-Identifier: Apache-2.0
pragma solidity ^0.8.28;

/// The one method of Multicall3 that we use.
contract Multicall {
    struct Call3 {
        address target;
        bool allowFailure;
        bytes callData;
    }

    struct Result {
        bool success;
        bytes returnData;
    }

    function aggregate3(Call3[] calldata calls) external payable returns (Result[] memory results) {
        results = new Result[](calls.length);
        for (uint256 i = 0; i < calls.length; i++) {
            (results[i].success, results[i].returnData) = calls[i].target.call(calls[i].callData);
            require(calls[i].allowFailure || results[i].success, "Multicall3: call failed");
        }
    }
}

/// Burns all the gas it is given, whatever it is asked.
contract GasBurner {
    fallback() external {
        while (true) {}
    }
}
