// SPDX-License-Identifier: Apache-2.0
pragma solidity ^0.8.28;

import {ERC721} from "@openzeppelin/contracts/token/ERC721/ERC721.sol";

/// An NFT contract that mints to verified holders only: neither to its callers nor to one address, nor to those that begin
/// with 0xbad0.
contract Picky is ERC721 {
    address private constant unverified = 0x00000000000000000000000000000000DeaDBeef;

    constructor() ERC721("Picky", "PICK") {}

    function mintBatch(address[] calldata to, uint256[] calldata ids) external {
        for (uint256 i = 0; i < ids.length; i++) {
            require(to[i] != unverified && uint16(uint160(to[i]) >> 144) != 0xbad0 && to[i] != msg.sender, "Recipient is not verified");
            if (_ownerOf(ids[i]) == address(0)) _mint(to[i], ids[i]);
        }
    }
}
