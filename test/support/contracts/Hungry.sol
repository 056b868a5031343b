// SPDX-License-Identifier: Apache-2.0
pragma solidity ^0.8.28;

import {ERC721} from "@openzeppelin/contracts/token/ERC721/ERC721.sol";

/// An NFT contract that uses more gas for each further token of a batch.
contract Hungry is ERC721 {
    uint256[] private _written;

    constructor() ERC721("Hungry", "HUNG") {}

    function mintBatch(address[] calldata to, uint256[] calldata ids) external {
        for (uint256 i = 0; i < ids.length; i++) {
            if (_ownerOf(ids[i]) == address(0)) _mint(to[i], ids[i]);
            for (uint256 j = 0; j < i; j++) _written.push(j);
        }
    }
}
