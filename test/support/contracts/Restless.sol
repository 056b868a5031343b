// SPDX-License-Identifier: Apache-2.0
pragma solidity ^0.8.28;

import {ERC721} from "@openzeppelin/contracts/token/ERC721/ERC721.sol";

/// An NFT contract whose tokens anybody may move, burn, or move without an event.
contract Restless is ERC721 {
    mapping(uint256 => address) private _secretOwners;

    constructor() ERC721("Restless", "REST") {}

    function mintBatch(address[] calldata to, uint256[] calldata ids) external {
        for (uint256 i = 0; i < ids.length; i++) {
            if (_ownerOf(ids[i]) == address(0)) _mint(to[i], ids[i]);
        }
    }

    function moveBatch(address[] calldata to, uint256[] calldata ids) external {
        for (uint256 i = 0; i < ids.length; i++) _transfer(_requireOwned(ids[i]), to[i], ids[i]);
    }

    function burn(uint256 id) external {
        _burn(id);
    }

    function moveSilently(address to, uint256 id) external {
        _secretOwners[id] = to;
    }

    function ownerOf(uint256 id) public view override returns (address) {
        return _secretOwners[id] == address(0) ? super.ownerOf(id) : _secretOwners[id];
    }
}
