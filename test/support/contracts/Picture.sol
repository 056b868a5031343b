// SPDX-License-Identifier: Apache-2.0
pragma solidity ^0.8.28;

import {ERC721} from "@openzeppelin/contracts/token/ERC721/ERC721.sol";

/// An ordinary ERC-721: it too has balanceOf, name and symbol.
contract Picture is ERC721 {
    constructor() ERC721("Picture", "PIC") {
        _mint(msg.sender, 1);
    }
}
