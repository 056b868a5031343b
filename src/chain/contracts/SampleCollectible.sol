// SPDX-License-Identifier: Apache-2.0
pragma solidity 0.8.28;

import {Ownable} from "@openzeppelin/contracts/access/Ownable.sol";
import {ERC721} from "@openzeppelin/contracts/token/ERC721/ERC721.sol";
import {ERC721Burnable} from "@openzeppelin/contracts/token/ERC721/extensions/ERC721Burnable.sol";

/// @title ERC-721 of the sample world
contract SampleCollectible is ERC721Burnable, Ownable {
    constructor(string memory name, string memory symbol) ERC721(name, symbol) Ownable(msg.sender) {}

    function mint(address to, uint256 id) external onlyOwner {
        _mint(to, id);
    }

    /// @dev Metadata without any host: the local world asks nobody for anything.
    function tokenURI(uint256 id) public view override returns (string memory) {
        _requireOwned(id);
        return 'data:application/json,{"name":"Sample Collectible","description":"Made for trying things out"}';
    }
}
