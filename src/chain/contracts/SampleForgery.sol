// SPDX-License-Identifier: Apache-2.0
pragma solidity ^0.8.28;

/// Imitates the sample dollar and logs transfers in the name of others, as address poisoning does. Nobody has any of it.
contract SampleForgery {
    string public constant name = "Sample Dollar";
    string public constant symbol = "SUSD";
    uint8 public constant decimals = 6;

    event Transfer(address indexed from, address indexed to, uint256 value);

    function balanceOf(address) external pure returns (uint256) {
        return 0;
    }

    function forge(address[] calldata froms, address[] calldata tos, uint256 value) external {
        for (uint256 i = 0; i < froms.length; ++i) emit Transfer(froms[i], tos[i], value);
    }
}
