// SPDX-License-Identifier: Apache-2.0
pragma solidity ^0.8.28;

import {ERC20} from "@openzeppelin/contracts/token/ERC20/ERC20.sol";

/// An ordinary ERC-20 with six decimals; all of it belongs to who deploys it.
contract Coin is ERC20 {
    constructor() ERC20("Test Coin", "COIN") {
        _mint(msg.sender, 1_500_000);
    }

    function decimals() public pure override returns (uint8) {
        return 6;
    }
}
