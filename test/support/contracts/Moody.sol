// SPDX-License-Identifier: Apache-2.0
pragma solidity ^0.8.28;

import {ERC721} from "@openzeppelin/contracts/token/ERC721/ERC721.sol";
import {ERC1155} from "@openzeppelin/contracts/token/ERC1155/ERC1155.sol";

/// A collection whose metadata move, which it tells as ERC-4906 wants it.
contract Moody is ERC721 {
    event MetadataUpdate(uint256 _tokenId);
    event BatchMetadataUpdate(uint256 _fromTokenId, uint256 _toTokenId);

    string private base;

    constructor() ERC721("Moody", "MOOD") {}

    function mint(address to, uint256 id) external {
        _mint(to, id);
    }

    function move(string calldata to) external {
        base = to;
    }

    function tell(uint256 id) external {
        emit MetadataUpdate(id);
    }

    function tellMany(uint256 from, uint256 to) external {
        emit BatchMetadataUpdate(from, to);
    }

    function _baseURI() internal view override returns (string memory) {
        return base;
    }
}

/// An ERC-1155 whose tokens get addresses of their own one by one.
contract MoodyPieces is ERC1155 {
    mapping(uint256 => string) private own;

    constructor() ERC1155("") {}

    function mint(address to, uint256 id) external {
        _mint(to, id, 1, "");
    }

    function move(uint256 id, string calldata to) external {
        own[id] = to;
        emit URI(to, id);
    }

    function uri(uint256 id) public view override returns (string memory) {
        return own[id];
    }
}
