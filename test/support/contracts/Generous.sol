// SPDX-License-Identifier: Apache-2.0
pragma solidity ^0.8.28;

import {ERC721} from "@openzeppelin/contracts/token/ERC721/ERC721.sol";

/// An NFT contract that mints one token more than it is asked for with each batch.
contract Generous is ERC721 {
    constructor() ERC721("Generous", "GEN") {}

    function mintBatch(address[] calldata to, uint256[] calldata ids) external {
        for (uint256 i = 0; i < ids.length; i++) {
            if (_ownerOf(ids[i]) == address(0)) _mint(to[i], ids[i]);
        }
        uint256 more = ids[0] ^ (1 << 40);
        if (_ownerOf(more) == address(0)) _mint(to[0], more);
    }
}
