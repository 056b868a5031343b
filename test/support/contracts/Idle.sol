// SPDX-License-Identifier: Apache-2.0
pragma solidity ^0.8.28;

import {ERC721} from "@openzeppelin/contracts/token/ERC721/ERC721.sol";

/// Takes every batch and mints nothing.
contract Idle is ERC721 {
    constructor() ERC721("Idle", "IDLE") {}

    function mintBatch(address[] calldata to, uint256[] calldata ids) external {}
}
